import { describe, expect, test } from "vitest";
import { DataCloneError, ProtocolError } from "../../src/errors.ts";
import { FULL, NOT_INLINE, SENT } from "../../src/endpoint/endpoint.ts";
import { CALL, CLONED, INLINE, RESULT, SHARED } from "../../src/endpoint/frame.ts";
import { createEndpoints, type EndpointPair } from "../support/endpoints.ts";

const CAPACITY = 4096;

/** Sends `args` as the scheduler does, and returns what the worker reads. */
function transfer(pair: EndpointPair, args: readonly unknown[]): unknown[] {
  if (pair.host.sendCall(5, 6, 7, args) !== SENT) {
    expect(pair.host.sendHeld(CALL, 5, 6, 7, pair.holder.hold(args))).toBe(true);
  }
  return receive(pair);
}

function receive(pair: EndpointPair): unknown[] {
  const { rx } = pair.worker;
  const index = rx.poll();
  expect(rx.acquire(index)).toBe(true);
  const word = index >> 2;
  expect([...rx.memory.i32.subarray(word + 2, word + 4), rx.memory.i32[word + 5]]).toEqual([
    5,
    6,
    7,
  ]);
  try {
    return pair.worker.readValues(index, rx.memory.i32[word + 4]!);
  } finally {
    rx.release();
  }
}

describe("where values go", () => {
  test("small values inline, unknown ones cloned, large ones in shared buffers", () => {
    const { holder } = createEndpoints(CAPACITY);
    expect(holder.hold([1, "a", null]).location).toBe(INLINE);
    expect(holder.hold([{ a: 1 }]).location).toBe(CLONED);
    expect(holder.hold([new Uint8Array(CAPACITY)]).location).toBe(SHARED);
    expect(holder.hold([new Uint8Array(CAPACITY / 4)]).location).toBe(INLINE);
    expect(holder.hold([new Uint8Array(CAPACITY / 4 + 32)]).location).toBe(SHARED);
    const buffer = new ArrayBuffer(8);
    expect(holder.hold([buffer, new Uint8Array(buffer)]).location).toBe(CLONED);
  });

  test("every size around a quarter of the ring arrives, at every position of the ring", () => {
    const pair = createEndpoints(CAPACITY);
    for (let size = CAPACITY / 4 - 64; size < CAPACITY / 4 + 64; size += 4) {
      const [bytes, text] = transfer(pair, [
        new Uint8Array(size).fill(size),
        "x".repeat(size % 99),
      ]);
      expect((bytes as Uint8Array).every((byte) => byte === (size & 0xff))).toBe(true);
      expect(text).toBe("x".repeat(size % 99));
    }
  });

  test("a value that does not fit the rest of the ring is not taken for too large", () => {
    const pair = createEndpoints(CAPACITY);
    for (let round = 0; round < 50; round++) {
      expect(pair.host.sendCall(5, 6, 7, ["y".repeat(900)])).toBe(SENT);
      expect(receive(pair)).toEqual(["y".repeat(900)]);
    }
  });

  test("arguments that share a buffer still share it on arrival", () => {
    const pair = createEndpoints(CAPACITY);
    const buffer = new ArrayBuffer(16);
    const [bytes, floats] = transfer(pair, [new Uint8Array(buffer), new Float64Array(buffer)]) as [
      Uint8Array,
      Float64Array,
    ];
    expect(bytes.buffer).toBe(floats.buffer);
  });

  test("errors among arguments keep class, cause and properties", () => {
    const pair = createEndpoints(CAPACITY);
    const error = Object.assign(new TypeError("t", { cause: 1 }), { code: "X" });
    const [arrived, other] = transfer(pair, [error, { o: 1 }]);
    expect(arrived).toBeInstanceOf(TypeError);
    expect(arrived).toMatchObject({ message: "t", cause: 1, code: "X" });
    expect(other).toEqual({ o: 1 });
  });

  test("no arguments and many arguments", () => {
    const pair = createEndpoints(CAPACITY);
    expect(transfer(pair, [])).toEqual([]);
    const many = Array.from({ length: 300 }, (_, index) => index);
    expect(transfer(pair, many)).toEqual(many);
  });
});

describe("no room", () => {
  test("FULL leaves ring and port untouched", () => {
    const pair = createEndpoints(CAPACITY);
    let sent = 0;
    while (pair.host.sendCall(5, 6, 7, [sent]) === SENT) sent++;
    expect(sent).toBe(CAPACITY / 32);
    expect(pair.host.sendCall(5, 6, 7, ["x"])).toBe(FULL);
    expect(pair.host.sendCall(5, 6, 7, [{}])).toBe(FULL);
    const held = pair.holder.hold([{}]);
    expect(pair.host.sendHeld(CALL, 5, 6, 7, held)).toBe(false);
    expect(pair.toWorker).toHaveLength(0);
    for (let value = 0; value < sent; value++) expect(receive(pair)).toEqual([value]);
    pair.worker.rx.publish();
    expect(pair.host.sendHeld(CALL, 5, 6, 7, held)).toBe(true);
    expect(receive(pair)).toEqual([{}]);
  });

  test("a ring all of whose records are released takes the largest record", () => {
    const pair = createEndpoints(CAPACITY);
    const largest = new Uint8Array(CAPACITY / 4);
    for (let before = 0; before < 200; before++) {
      expect(pair.host.sendCall(5, 6, 7, [before])).toBe(SENT);
      receive(pair);
      expect(pair.host.sendCall(5, 6, 7, [largest])).toBe(SENT);
      receive(pair);
    }
  });

  test("what has no encoding is NOT_INLINE", () => {
    const pair = createEndpoints(CAPACITY);
    expect(pair.host.sendCall(0, 0, 0, [1, {}])).toBe(NOT_INLINE);
    expect(pair.host.sendValue(RESULT, 0, 0, new Map())).toBe(NOT_INLINE);
    expect(pair.host.sendCall(0, 0, 0, ["x".repeat(CAPACITY)])).toBe(NOT_INLINE);
    expect(pair.worker.rx.poll()).toBe(-1);
  });
});

describe("holding", () => {
  test("later changes are not seen, and getters run once", () => {
    const pair = createEndpoints(CAPACITY);
    let runs = 0;
    const value = {
      get field() {
        return ++runs;
      },
    };
    const bytes = new Uint8Array([1, 2, 3]);
    const held = pair.holder.hold([value, bytes]);
    bytes[0] = 9;
    for (let sends = 0; sends < 3; sends++) {
      expect(pair.host.sendHeld(CALL, 5, 6, 7, held)).toBe(true);
      expect(receive(pair)).toEqual([{ field: 1 }, new Uint8Array([1, 2, 3])]);
    }
  });

  test("what cannot be cloned is refused by its path", () => {
    const { holder } = createEndpoints(CAPACITY);
    for (const bad of [() => {}, Symbol("s"), new WeakMap(), { deep: [() => {}] }]) {
      expect(() => holder.hold([1, bad])).toThrow(DataCloneError);
      expect(() => holder.hold([1, bad])).toThrow(/^args\[1\]/);
    }
    expect(() => holder.hold([{ user: { onClick: () => {} } }])).toThrow(
      /^args\[0\]\.user\.onClick /,
    );
    expect(() => holder.hold([[new Map([["k", Symbol()]])]])).toThrow(/^args\[0\]\[0\]\.get\(k\) /);
    expect(() => holder.hold([() => {}], "result")).toThrow(/^result /);
    const detached = new Uint8Array(8);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    expect(() => holder.hold([detached])).toThrow(DataCloneError);
    expect(() => holder.hold([detached.buffer])).toThrow(DataCloneError);
  });

  test("a throwing getter's own error comes through", () => {
    const { holder } = createEndpoints(CAPACITY);
    const bad = {
      get field(): number {
        throw new RangeError("mine");
      },
    };
    expect(() => holder.hold([bad])).toThrow(RangeError);
  });
});

describe("damage", () => {
  test("a message that cannot be deserialized fails its own record only", () => {
    const pair = createEndpoints(CAPACITY);
    for (const value of [1, 2, 3]) {
      pair.host.sendHeld(CALL, 5, 6, 7, pair.holder.hold([{ value }]));
    }
    const messages = pair.toWorker.splice(0);
    const shift = pair.toWorker.shift.bind(pair.toWorker);
    pair.toWorker.push(...messages);
    let receives = 0;
    pair.toWorker.shift = () => {
      const message = shift();
      if (++receives === 2) throw new Error("cannot deserialize");
      return message;
    };
    expect(receive(pair)).toEqual([{ value: 1 }]);
    expect(() => receive(pair)).toThrow(DataCloneError);
    expect(receive(pair)).toEqual([{ value: 3 }]);
  });

  test("a missing message and a wrong number are protocol errors", () => {
    const pair = createEndpoints(CAPACITY);
    pair.host.sendHeld(CALL, 5, 6, 7, pair.holder.hold([{}]));
    pair.toWorker.length = 0;
    expect(() => receive(pair)).toThrow(ProtocolError);
    pair.host.sendHeld(CALL, 5, 6, 7, pair.holder.hold([{}]));
    (pair.toWorker[0] as number[])[0] = 17;
    expect(() => receive(pair)).toThrow(ProtocolError);
  });
});
