/** The shorter way of values whose room is known: the same bytes, errors and refusals as by the encoder. */
import { describe, expect, test } from "vitest";
import type { DeclaredStruct } from "../../../src/features/values/structs/declared.ts";
import { signatureOf } from "../../../src/features/values/structs/schema/signature.ts";
import { array, bool, f64, i32, optional, struct, utf8 } from "../../../src/mod.ts";
import {
  CALL_WITH_VALUE,
  DESCRIPTOR_WORD,
  FRAME_BYTES,
  RESULT_VALUE,
} from "../../../src/lane/frame.ts";
import { PayloadTooLargeError, ProtocolError, StructError } from "../../../src/errors.ts";
import { SizedValues, UNSIZED } from "../../../src/lane/sized-values.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { MAX_EMBEDDED_BYTES } from "../../../src/codec/support/attachments.ts";
import { encode, receive, send, sendCall, sendResult } from "../../support/codec.ts";
import { createEndpoints, type EndpointPair } from "../../support/endpoints.ts";
import { viewKinds } from "../../support/values.ts";

const Point = struct({ x: f64, y: i32, isOn: bool, name: utf8(12), tail: array(f64, 3) });
const point = { x: 0.1, y: -7, isOn: true, name: "später", tail: [-0, NaN] };
const { args, returns } = signatureOf([Point], Point)!;

const LENGTHS = [0, 1, 7, 8, 23, 24, 25, 64, 511, 512, 513];
const texts = LENGTHS.flatMap((units) => [
  "a".repeat(units),
  "é".repeat(units),
  "ж".repeat(units),
  "a".repeat(units) + "\ud800",
]);
const values = [undefined, null, true, false, ...texts];

/** The bytes of the values of the record that comes next. */
function nextBytes({ worker }: EndpointPair): { what: number; bytes: Uint8Array } {
  const { rx } = worker;
  const index = rx.poll();
  expect(rx.acquire(index)).toBe(true);
  const { i32: words, u8 } = rx.memory;
  const bytes = u8.slice(index + FRAME_BYTES, rx.end);
  rx.release();
  return { what: words[(index >> 2) + DESCRIPTOR_WORD]!, bytes };
}

describe("fixed-size values", () => {
  test("have the same bytes as from the encoder", () => {
    const pair = createEndpoints(1 << 16);
    for (const value of values) {
      if (pair.host.sized.roomForOne(value) === UNSIZED) continue; // the encoder's
      pair.host.tx.memory.u8.fill(0);
      expect(sendCall(pair.host, [value])).toBe(true);
      const { what, bytes } = nextBytes(pair);
      expect(what).toBe(CALL_WITH_VALUE);
      expect(bytes).toEqual(encode([value]));
    }
  });

  test("arrive at every position of a ring as calls and as results", () => {
    const pair = createEndpoints(4096);
    for (let round = 0; round < 40; round++) {
      for (const value of values) {
        expect(send(pair, [value])).toEqual([value]);
        expect(sendResult(pair.worker, value)).toBe(true);
        const { rx } = pair.host;
        const index = rx.poll();
        expect(pair.host.readValues(index, RESULT_VALUE)).toEqual([value]);
        rx.release();
      }
    }
  });

  test("are refused by a full ring and accepted after it drains", () => {
    const pair = createEndpoints(4096);
    let sent = 0;
    while (sendCall(pair.host, ["a".repeat(40)])) sent++;
    expect(sent).toBeGreaterThan(40);
    expect(sendCall(pair.host, ["a".repeat(40)])).toBe(false);
    while (sent-- > 0) expect(receive(pair)).toEqual(["a".repeat(40)]);
    expect(send(pair, ["b"])).toEqual(["b"]);
  });

  test("are limited by their actual size", () => {
    const limit = 8 + 104;
    const pair = createEndpoints(1 << 16, limit);
    expect(send(pair, ["a".repeat(100)])).toEqual(["a".repeat(100)]);
    expect(send(pair, ["ж".repeat(48)])).toEqual(["ж".repeat(48)]);
    for (const text of ["a".repeat(105), "ж".repeat(53)]) {
      expect(() => sendCall(pair.host, [text])).toThrow(PayloadTooLargeError);
    }
    expect(() => sendCall(createEndpoints(4096, 0).host, [true]))
      .toThrow(PayloadTooLargeError);
  });
});

const typedArrays = viewKinds.filter(({ name }) => name !== "DataView");

function counting(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).map((_, index) => index + 1);
}

class Sub extends Uint8Array {}

describe("lists of fixed-size values", () => {
  const lists = [
    [],
    [1, 2],
    [0.5, -0, NaN, 2 ** 31],
    [true, "ж".repeat(100), null, undefined, "a", "", 7],
    Array.from({ length: 8 }, (_, index) => index),
  ];

  test("have the same bytes as from the encoder and arrive at every position of a ring", () => {
    const pair = createEndpoints(4096);
    for (const list of lists) {
      pair.host.tx.memory.u8.fill(0);
      expect(sendCall(pair.host, list)).toBe(true);
      expect(nextBytes(pair).bytes).toEqual(encode(list));
    }
    for (let round = 0; round < 100; round++) {
      for (const list of lists) expect(send(pair, list)).toEqual(list);
    }
  });

  test("are written without an encoder unless a value is an object or large, or there are many", () => {
    const { sized } = createEndpoints(1 << 16).host;
    for (const list of lists) expect(sized.roomFor(list)).toBeGreaterThanOrEqual(list.length * 8);
    for (
      const other of [
        [1, {}],
        [1, new Uint8Array(8)],
        [1n, 1],
        [Symbol.for("a"), 1],
        [1, "a".repeat(16_385)],
        Array.from({ length: 9 }, (_, index) => index),
      ]
    ) expect(sized.roomFor(other)).toBe(UNSIZED);
  });

  test("are limited by their total size", () => {
    const pair = createEndpoints(1 << 16, 40);
    expect(send(pair, [1, 2, 3, 4, 5])).toEqual([1, 2, 3, 4, 5]);
    expect(() => sendCall(pair.host, [1, 2, 3, 4, 5, 6])).toThrow(PayloadTooLargeError);
  });
});

describe("typed arrays", () => {
  const whole = typedArrays.flatMap((View) =>
    [1, 3, 8, 1000].map((length) => new View(counting(length * View.BYTES_PER_ELEMENT!).buffer))
  );
  const tracking = new Uint8Array(new ArrayBuffer(16, { maxByteLength: 32 }));
  const buffers = [
    Buffer.from("Straße"),
    Buffer.from(counting(12).buffer),
    Buffer.from(counting(64).buffer, 8, 9),
    Buffer.from(new SharedArrayBuffer(8)),
  ];
  const others: ArrayBufferView[] = [
    new Sub(5),
    Object.assign(counting(9), { own: 1 }),
    // Not all of their buffer, one that changes its size, or none of the kinds that go this way.
    counting(64).subarray(8, 24),
    counting(64).subarray(0, 24),
    new Float64Array(new ArrayBuffer(64), 8),
    new Uint8Array(),
    new DataView(new ArrayBuffer(24), 8, 9),
    tracking,
    new Uint8Array(tracking.buffer, 0, 16),
  ];

  test("have the same bytes as from the encoder, as a whole buffer or a part", () => {
    const pair = createEndpoints(1 << 18);
    for (const view of [...whole, ...buffers, ...others]) {
      pair.host.tx.memory.u8.fill(0);
      expect(sendCall(pair.host, [view])).toBe(true);
      const { what, bytes } = nextBytes(pair);
      expect(what).toBe(CALL_WITH_VALUE);
      expect(bytes, view.constructor.name).toEqual(encode([view]));
    }
  });

  test("are written without an encoder if they cover a buffer that fits a record", () => {
    const { tx } = createEndpoints(1 << 20).host;
    const sized = new SizedValues(tx.memory, currentRuntime, 1 << 18);
    for (const view of [...whole, ...buffers, new Uint8Array(MAX_EMBEDDED_BYTES)]) {
      expect(sized.roomForOne(view)).toBeGreaterThanOrEqual(view.byteLength + 16);
    }
    const shared = new Uint8Array(new SharedArrayBuffer(8));
    const large = new Uint8Array(MAX_EMBEDDED_BYTES + 1);
    for (const view of [...others.slice(2), shared, large, Buffer.alloc(0)]) {
      expect(sized.roomForOne(view)).toBe(UNSIZED);
    }
  });

  test("run no traps of a proxy prototype, alone or beside other values", () => {
    const pair = createEndpoints(1 << 16);
    const trap = (): never => {
      throw new Error("a trap has run");
    };
    const traps = { getPrototypeOf: trap, get: trap, has: trap, getOwnPropertyDescriptor: trap };
    for (const view of [counting(8), counting(16).subarray(1, 9), Buffer.from("12345678")]) {
      Object.setPrototypeOf(view, new Proxy({}, traps));
      expect(send(pair, [view])).toHaveLength(1);
      expect(send(pair, [view, 1])).toHaveLength(2);
    }
  });

  test("with multi-byte elements are not Buffers, whatever their prototype", () => {
    const pair = createEndpoints(1 << 16);
    const numbers = new Float64Array([0.5, 1, 2]);
    for (const view of [numbers.slice(), numbers.subarray(1)]) {
      const expected = structuredClone(view);
      Object.setPrototypeOf(view, Buffer.prototype);
      expect(send(pair, [view])).toEqual([expected]);
      expect(send(pair, [view, 1])).toEqual([expected, 1]);
    }
  });

  test("arrive at every position of a ring as calls and as results", () => {
    const pair = createEndpoints(1 << 15);
    for (let round = 0; round < 10; round++) {
      for (
        const view of [...whole, ...buffers, ...others].filter((view) => view.byteLength <= 8000)
      ) {
        const expected = view instanceof Sub ? new Uint8Array(view) : structuredClone(view);
        const [got] = send(pair, [view]) as [ArrayBufferView];
        expect(got.buffer).not.toBe(view.buffer);
        if (!Buffer.isBuffer(view)) {
          expect(got).toEqual(expected);
          expect(got.buffer.byteLength).toBe(expected.buffer.byteLength);
        } else expect(view.equals(got as Buffer)).toBe(true);
        expect(sendResult(pair.worker, view)).toBe(true);
        const { rx } = pair.host;
        const index = rx.poll();
        expect(pair.host.readValues(index, RESULT_VALUE)).toEqual([got]);
        rx.release();
      }
    }
  });

  test("are limited by their bytes and refused by a full ring or if detached", () => {
    const pair = createEndpoints(1 << 16, 16 + 96);
    expect(send(pair, [counting(96)])).toEqual([counting(96)]);
    expect(() => sendCall(pair.host, [counting(97)])).toThrow(PayloadTooLargeError);
    const small = createEndpoints(4096);
    let sent = 0;
    while (sendCall(small.host, [counting(200)])) sent++;
    expect(sent).toBeGreaterThan(10);
    while (sent-- > 0) expect(receive(small)).toEqual([counting(200)]);
    const gone = counting(8);
    gone.buffer.transfer();
    expect(() => sendCall(small.host, [gone])).toThrow(/args\[0\].*detached/);
    expect(send(small, [counting(8)])).toEqual([counting(8)]);
  });
});

describe("a single value of a declared shape", () => {
  test("arrives at every position of a ring as a call and as a result", () => {
    const pair = createEndpoints(4096);
    pair.worker.decoder.declared = args;
    pair.host.decoder.declared = returns;
    for (let round = 0; round < 200; round++) {
      const value = { ...point, y: round, name: "x".repeat(round % 13) };
      expect(sendCall(pair.host, [value], args)).toBe(true);
      const { rx } = pair.worker;
      const index = rx.poll();
      expect(rx.acquire(index)).toBe(true);
      expect(pair.worker.decoder.one(rx.memory, index + FRAME_BYTES, rx.end)).toEqual(value);
      rx.release();
      expect(sendResult(pair.worker, value, returns)).toBe(true);
      const answer = pair.host.rx.poll();
      const { memory, end } = pair.host.rx;
      expect(pair.host.decoder.one(memory, answer + FRAME_BYTES, end)).toEqual(value);
      pair.host.rx.release();
    }
  });

  test("has the same bytes alone and in a snapshot", () => {
    const pair = createEndpoints(1 << 16);
    const snapshot = pair.snapshots.capture([point], "args", args);
    expect(sendCall(pair.host, [point], args)).toBe(true);
    expect(nextBytes(pair).bytes).toEqual(snapshot.inline);
  });

  test("reports the path of a mismatch and does not affect the next call", () => {
    const pair = createEndpoints(1 << 16);
    const bad = { ...point, y: 0.5 };
    expect(() => sendCall(pair.host, [bad], args)).toThrow(
      expect.objectContaining({
        code: "HEDDLE_STRUCT_MISMATCH",
        message: expect.stringMatching(/args\[0\]\.y/),
      }),
    );
    expect(() => sendResult(pair.worker, bad, returns)).toThrow(StructError);
    expect(() => sendResult(pair.worker, bad, returns)).toThrow(/result\.y/);
    expect(() => sendCall(pair.host, [], args)).toThrow(/args\[0\]/);
    const thrown = new Error("mine");
    const getter = {
      ...point,
      get x(): number {
        throw thrown;
      },
    };
    expect(() => sendCall(pair.host, [getter], args)).toThrow(thrown);
    expect(send(pair, [1])).toEqual([1]);
  });

  test("is refused above the limit, and is encoded if its size is not fixed", () => {
    const pair = createEndpoints(1 << 16, 32);
    expect(() => sendCall(pair.host, [point], args)).toThrow(PayloadTooLargeError);
    const Open = struct({ text: utf8(), more: optional(f64) });
    const open = signatureOf([Open], Open)!.args;
    const roomy = createEndpoints(1 << 16);
    roomy.worker.decoder.declared = open;
    const value = { text: "x".repeat(5000), more: 1 };
    expect(sendCall(roomy.host, [value], open)).toBe(true);
    expect(receive(roomy)).toEqual([value]);
  });

  test("decodes to a value or a ProtocolError if any byte is damaged", () => {
    const pair = createEndpoints(1 << 16);
    const { decoder } = pair.worker;
    decoder.declared = args;
    let refused = 0;
    for (let byte = 0; byte < 8 + (args![0] as DeclaredStruct).codec.fixedBytes; byte++) {
      expect(sendCall(pair.host, [point], args)).toBe(true);
      const { rx } = pair.worker;
      const index = rx.poll();
      expect(rx.acquire(index)).toBe(true);
      rx.memory.u8[index + FRAME_BYTES + byte]! ^= 0xff;
      try {
        expect(decoder.one(rx.memory, index + FRAME_BYTES, rx.end)).toBeTypeOf("object");
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError);
        refused++;
      }
      rx.release();
    }
    expect(refused).toBeGreaterThan(8);
  });
});
