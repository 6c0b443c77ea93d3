import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { transfer } from "../../../src/features/values/rare/kinds/wrappers.ts";
import { DataCloneError, PayloadTooLargeError, ProtocolError } from "../../../src/errors.ts";
import { CALL_WITH_NUMBER } from "../../../src/lane/frame.ts";
import { detached, type Snapshot } from "../../../src/lane/snapshot.ts";
import { bufferOf } from "../../../src/lane/payload-port.ts";
import { holdCall, receive, send, sendCall, sendHeldCall } from "../../support/codec.ts";
import { createEndpoints } from "../../support/endpoints.ts";
import { messageBytes } from "../../../src/host/lanes/payload-credit.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";

const CAPACITY = 4096;

/** Where held values are. */
function placeOf(snapshot: Snapshot): string {
  if (snapshot.payload === undefined) return "inline";
  return snapshot.inline === undefined ? "buffer" : "inline with extras";
}

describe("placement of values", () => {
  test("small values go inline, large values into buffers, other objects into messages", () => {
    const { snapshots } = createEndpoints(CAPACITY);
    // The stack names the files of the test runner: how long it is depends on where they are.
    const error = Object.assign(new Error("e"), { stack: "Error: e" });
    expect(placeOf(snapshots.capture([1, "a", null, { a: 1 }, new Map(), error]))).toBe("inline");
    expect(placeOf(snapshots.capture([new Uint8Array(CAPACITY)]))).toBe("buffer");
    expect(placeOf(snapshots.capture([new Uint8Array(CAPACITY / 4)]))).toBe("inline");
    expect(placeOf(snapshots.capture([new Uint8Array(CAPACITY / 4 + 32)]))).toBe("buffer");
    const shared = new SharedArrayBuffer(8);
    expect(placeOf(snapshots.capture([{ shared }]))).toBe("inline with extras");
    expect(placeOf(snapshots.capture([shared, new Uint8Array(CAPACITY)]))).toBe("buffer");
  });

  test("every size around a quarter of the ring arrives at every position of the ring", () => {
    const pair = createEndpoints(CAPACITY);
    for (let size = CAPACITY / 4 - 64; size < CAPACITY / 4 + 64; size += 4) {
      const [bytes, text] = send(pair, [
        new Uint8Array(size).fill(size),
        "x".repeat(size % 99),
      ]);
      expect((bytes as Uint8Array).every((byte) => byte === (size & 0xff))).toBe(true);
      expect(text).toBe("x".repeat(size % 99));
    }
  });

  test("a value that does not fit the end of the ring is still sent inline", () => {
    const pair = createEndpoints(CAPACITY);
    for (let round = 0; round < 50; round++) {
      expect(sendCall(pair.host, ["y".repeat(900)])).toBe(true);
      expect(receive(pair)).toEqual(["y".repeat(900)]);
    }
  });

  test("arguments that share a buffer still share it on arrival", () => {
    const pair = createEndpoints(CAPACITY);
    const buffer = new ArrayBuffer(16);
    const [bytes, floats] = send(pair, [new Uint8Array(buffer), new Float64Array(buffer)]) as [
      Uint8Array,
      Float64Array,
    ];
    expect(bytes.buffer).toBe(floats.buffer);
  });

  test("a SharedArrayBuffer arrives as the same object each time", () => {
    const pair = createEndpoints(CAPACITY);
    const shared = new SharedArrayBuffer(8);
    const [first] = send(pair, [shared]);
    const [again, nested] = send(pair, [shared, { view: new Int32Array(shared) }]);
    expect(again).toBe(first);
    expect((nested as { view: Int32Array }).view.buffer).toBe(first);
  });

  test("errors among arguments keep class, cause and properties", () => {
    const pair = createEndpoints(CAPACITY);
    const error = Object.assign(new TypeError("t", { cause: 1 }), { code: "X" });
    const [arrived, other] = send(pair, [error, { o: 1 }]);
    expect(arrived).toBeInstanceOf(TypeError);
    expect(arrived).toMatchObject({ message: "t", cause: 1, code: "X" });
    expect(other).toEqual({ o: 1 });
  });

  test("zero arguments and many arguments arrive", () => {
    const pair = createEndpoints(CAPACITY);
    expect(send(pair, [])).toEqual([]);
    const many = Array.from({ length: 300 }, (_, index) => index);
    expect(send(pair, many)).toEqual(many);
  });
});

describe("no space", () => {
  test("a call that finds no space leaves the ring and the port unchanged", () => {
    const pair = createEndpoints(CAPACITY);
    let sent = 0;
    while (pair.host.sendNumber(5, 6, CALL_WITH_NUMBER, 7, sent)) sent++;
    expect(sent).toBe(CAPACITY / 32);
    expect(sendCall(pair.host, ["x"])).toBe(false);
    expect(sendCall(pair.host, [{}])).toBe(false);
    const snapshot = pair.snapshots.capture([{ shared: new SharedArrayBuffer(8) }]);
    expect(sendHeldCall(pair.host, snapshot)).toBe(false);
    expect(pair.toWorker).toHaveLength(0);
    for (let value = 0; value < sent; value++) expect(receive(pair)).toEqual([value]);
    pair.worker.rx.publish();
    expect(sendHeldCall(pair.host, snapshot)).toBe(true);
    expect(receive(pair)).toEqual([{ shared: expect.any(SharedArrayBuffer) }]);
  });

  test("a ring with all records released accepts the largest record", () => {
    const pair = createEndpoints(CAPACITY);
    const largest = new Uint8Array(CAPACITY / 4);
    for (let before = 0; before < 200; before++) {
      expect(sendCall(pair.host, [before])).toBe(true);
      receive(pair);
      expect(sendCall(pair.host, [largest])).toBe(true);
      receive(pair);
    }
  });

  test("a value too large for a record is encoded once into a snapshot", () => {
    const pair = createEndpoints(CAPACITY);
    let reads = 0;
    const value = {
      get text() {
        reads++;
        return "x".repeat(CAPACITY);
      },
    };
    const outcome = holdCall(pair.host, [1, value]);
    expect(placeOf(outcome)).toBe("buffer");
    expect(pair.worker.rx.poll()).toBe(-1);
    expect(sendHeldCall(pair.host, outcome)).toBe(true);
    expect(receive(pair)).toEqual([1, { text: "x".repeat(CAPACITY) }]);
    expect(reads).toBe(1);
  });

  test("maxPayloadBytes applies to inline values and to messages", () => {
    const pair = createEndpoints(CAPACITY, 300);
    expect(() => sendCall(pair.host, ["x".repeat(400)])).toThrow(
      PayloadTooLargeError,
    );
    expect(() => pair.snapshots.capture([new Uint8Array(400)])).toThrow(
      /limit of 300 \(maxPayloadBytes\)/,
    );
    expect(() => pair.snapshots.capture([new Uint8Array(CAPACITY)])).toThrow(PayloadTooLargeError);
    expect(send(pair, ["x".repeat(200)])).toEqual(["x".repeat(200)]);
  });
});

describe("user code while encoding", () => {
  test("calls that a getter sends on the same endpoint precede its own call and arrive intact", () => {
    const pair = createEndpoints(CAPACITY);
    const value = {
      before: "b",
      get field() {
        expect(sendCall(pair.host, [1])).toBe(true);
        expect(sendCall(pair.host, [{ inner: "object" }])).toBe(true);
        expect(sendHeldCall(pair.host, pair.snapshots.capture([{ inner: true }]))).toBe(true);
        return { nested: true };
      },
      after: "a",
    };
    for (let round = 0; round < 3; round++) {
      expect(send(pair, [value])).toEqual([1]);
      expect(receive(pair)).toEqual([{ inner: "object" }]);
      expect(receive(pair)).toEqual([{ inner: true }]);
      expect(receive(pair)).toEqual([{ before: "b", field: { nested: true }, after: "a" }]);
    }
    expect(send(pair, [2])).toEqual([2]);
  });

  test("a getter that throws leaves the ring unchanged", () => {
    const pair = createEndpoints(CAPACITY);
    const bad = {
      start: "x".repeat(100),
      get field(): never {
        throw new URIError("mine");
      },
    };
    for (let round = 0; round < 100; round++) {
      expect(() => sendCall(pair.host, [bad])).toThrow(URIError);
    }
    expect(() => receive(pair)).toThrow("No record.");
    expect(send(pair, [{ fine: 1 }])).toEqual([{ fine: 1 }]);
  });
});

describe("transfers", () => {
  test("sending transfers a buffer, detaches its source and keeps its views", () => {
    for (const isKept of [false, true]) {
      const pair = createEndpoints(CAPACITY);
      const bytes = new Uint8Array(CAPACITY).fill(3);
      let snapshot = holdCall(pair.host, [
        transfer({ bytes, again: bytes }, [bytes.buffer]),
      ]);
      if (isKept) {
        snapshot = detached(snapshot);
        expect(bytes.length).toBe(0);
        expect(detached(snapshot)).toBe(snapshot);
      }
      expect(sendHeldCall(pair.host, snapshot)).toBe(true);
      expect(bytes.length).toBe(0);
      const [arrived] = receive(pair) as [{ bytes: Uint8Array; again: Uint8Array }];
      expect(arrived.bytes).toEqual(new Uint8Array(CAPACITY).fill(3));
      expect(arrived.again).toBe(arrived.bytes);
    }
  });

  test("capturing a snapshot detaches its buffers immediately", () => {
    const { snapshots } = createEndpoints(CAPACITY);
    const bytes = new Uint8Array(100).fill(3);
    const snapshot = snapshots.capture([transfer(bytes)]);
    expect([bytes.length, snapshot.attached, snapshot.transfer.length]).toEqual([0, [], 1]);
  });

  test("only the caller's buffers are attached, and copies of large buffers are transferred", () => {
    const pair = createEndpoints(CAPACITY);
    const bytes = new Uint8Array(8);
    const value = transfer({ copied: new Uint8Array(70_000), bytes }, [bytes.buffer]);
    const snapshot = holdCall(pair.host, [value]);
    expect([snapshot.attached, snapshot.transfer.length]).toEqual([[bytes.buffer], 2]);
  });

  test("no buffer is detached if another listed buffer was detached before", () => {
    const pair = createEndpoints(CAPACITY);
    const [gone, good] = [new ArrayBuffer(8), new ArrayBuffer(8)];
    structuredClone(gone, { transfer: [gone] });
    for (const list of [[good, gone], [gone, good]]) {
      const send = () => sendCall(pair.host, [transfer({}, list)]);
      expect(send).toThrow(DataCloneError);
      expect(good.byteLength).toBe(8);
    }
  });

  test("a refusal by the port becomes a coded error and does not affect the next call", () => {
    const pair = createEndpoints(CAPACITY);
    const bytes = new Uint8Array(100);
    const snapshot = holdCall(pair.host, [transfer(bytes)]);
    let posts = 0;
    pair.onPost = () => {
      posts++;
      throw new TypeError("the stream is locked");
    };
    expect(() => sendHeldCall(pair.host, snapshot)).toThrow(
      expect.objectContaining({
        code: "HEDDLE_DATA_CLONE",
        message: expect.stringMatching(
          /^A part cannot be .* moved: the stream is locked; the list/,
        ),
        cause: new TypeError("the stream is locked"),
      }),
    );
    expect([posts, bytes.length]).toEqual([1, 100]);
    pair.onPost = () => {};
    expect(send(pair, [new SharedArrayBuffer(8)])).toHaveLength(1);
  });

  test("the buffer of a message may come from another realm", () => {
    const buffer = runInNewContext("new SharedArrayBuffer(16)") as SharedArrayBuffer;
    expect(bufferOf([1, buffer], 16, currentRuntime.kinds)).toBe(buffer);
    expect(() => bufferOf([1], 16, currentRuntime.kinds)).toThrow(ProtocolError);
  });

  test("own methods of a buffer are not called", () => {
    const pair = createEndpoints(CAPACITY);
    const buffer = Object.defineProperties(new ArrayBuffer(8), {
      transfer: { value: () => expect.unreachable() },
      detached: { get: () => expect.unreachable() },
      byteLength: { get: () => expect.unreachable() },
    });
    const snapshot = holdCall(pair.host, [transfer(buffer)]);
    expect(messageBytes(snapshot, currentRuntime.kinds)).toBe(1024 + 8);
    const [moved] = detached(snapshot).transfer;
    expect(structuredClone(moved)).toEqual(new ArrayBuffer(8));
  });

  test("a record that claims more bytes than its message is a ProtocolError", () => {
    for (const bytes of [-2, 2 ** 30]) {
      const pair = createEndpoints(CAPACITY);
      const snapshot = holdCall(pair.host, [
        "x".repeat(CAPACITY),
      ]);
      const payload = { ...snapshot.payload!, bytes };
      expect(sendHeldCall(pair.host, { ...snapshot, payload })).toBe(true);
      expect(() => receive(pair)).toThrow(ProtocolError);
    }
  });

  test("a message contains only its parts, and its record the position of the values", () => {
    const pair = createEndpoints(CAPACITY);
    const shared = new SharedArrayBuffer(8);
    for (const size of [8, CAPACITY]) {
      const text = "x".repeat(size);
      const snapshot = holdCall(pair.host, [shared, text]);
      expect(sendHeldCall(pair.host, snapshot)).toBe(true);
      const [first, ...others] = pair.toWorker[0] as unknown[];
      expect(first).toBeInstanceOf(SharedArrayBuffer);
      expect(others.length).toBe(size === CAPACITY ? 1 : 0);
      const [arrived, other] = receive(pair);
      expect([(arrived as SharedArrayBuffer).byteLength, other]).toEqual([8, text]);
    }
  });
});

describe("snapshots", () => {
  test("ignore later changes, and getters run once", () => {
    const pair = createEndpoints(CAPACITY);
    let runs = 0;
    const value = {
      get field() {
        return ++runs;
      },
    };
    const bytes = new Uint8Array([1, 2, 3]);
    const snapshot = pair.snapshots.capture([value, bytes]);
    bytes[0] = 9;
    for (let sends = 0; sends < 3; sends++) {
      expect(sendHeldCall(pair.host, snapshot)).toBe(true);
      expect(receive(pair)).toEqual([{ field: 1 }, new Uint8Array([1, 2, 3])]);
    }
  });

  test("refuse uncloneable values with their path", () => {
    const { snapshots } = createEndpoints(CAPACITY);
    for (const bad of [() => {}, Symbol("s"), new WeakMap(), { deep: [() => {}] }]) {
      expect(() => snapshots.capture([1, bad])).toThrow(DataCloneError);
      expect(() => snapshots.capture([1, bad])).toThrow(/^args\[1\]/);
    }
    expect(() => snapshots.capture([{ user: { onClick: () => {} } }])).toThrow(
      /^args\[0\]\.user\.onClick /,
    );
    expect(() => snapshots.capture([[new Map([["k", Symbol()]])]])).toThrow(
      /^args\[0\]\[0\]\.get\(k\) /,
    );
    expect(() => snapshots.capture([() => {}], "result")).toThrow(/^result /);
    const detached = new Uint8Array(8);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    expect(() => snapshots.capture([detached])).toThrow(DataCloneError);
    expect(() => snapshots.capture([detached.buffer])).toThrow(DataCloneError);
  });

  test("pass on the error of a getter", () => {
    const { snapshots } = createEndpoints(CAPACITY);
    const bad = {
      get field(): number {
        throw new RangeError("mine");
      },
    };
    expect(() => snapshots.capture([bad])).toThrow(RangeError);
  });
});

describe("notices", () => {
  test("come beside payloads, in order, whichever side is looked for first", () => {
    const pair = createEndpoints(CAPACITY);
    const shared = (value: number) =>
      pair.snapshots.capture([{ value, shared: new SharedArrayBuffer(8) }]);
    pair.toWorker.push({ n: 1 });
    sendHeldCall(pair.host, shared(1));
    pair.toWorker.push({ n: 2 });
    sendHeldCall(pair.host, shared(2));
    pair.toWorker.push({ n: 3 });
    expect(receive(pair)).toMatchObject([{ value: 1 }]);
    const { messages } = pair.worker;
    expect([1, 2, 3, 4].map(() => messages.takeNotice())).toEqual([
      { n: 1 },
      { n: 2 },
      { n: 3 },
      undefined,
    ]);
    expect(receive(pair)).toMatchObject([{ value: 2 }]);
  });

  test("are kept by one that waits for another message", () => {
    const pair = createEndpoints(CAPACITY);
    pair.toWorker.push({ n: 1 }, { n: 2, wanted: true }, { n: 3 });
    const { messages } = pair.worker;
    const isWanted = (message: unknown): boolean => Object.hasOwn(message as object, "wanted");
    expect(messages.takeOther(isWanted)).toEqual({ n: 2, wanted: true });
    expect(messages.takeOther(isWanted)).toBeUndefined();
    expect([1, 2, 3].map(() => messages.takeNotice())).toEqual([{ n: 1 }, { n: 3 }, undefined]);
  });
});

describe("damage", () => {
  test("a message that cannot be deserialized fails its own record only", () => {
    const pair = createEndpoints(CAPACITY);
    for (const value of [1, 2, 3]) {
      sendHeldCall(
        pair.host,
        pair.snapshots.capture([{ value, shared: new SharedArrayBuffer(8) }]),
      );
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
    expect(receive(pair)).toMatchObject([{ value: 1 }]);
    expect(() => receive(pair)).toThrow(DataCloneError);
    expect(receive(pair)).toMatchObject([{ value: 3 }]);
  });

  test("a missing message and a wrong number are protocol errors", () => {
    const pair = createEndpoints(CAPACITY);
    sendHeldCall(pair.host, pair.snapshots.capture([new SharedArrayBuffer(8)]));
    pair.toWorker.length = 0;
    expect(() => receive(pair)).toThrow(ProtocolError);
    sendHeldCall(pair.host, pair.snapshots.capture([new SharedArrayBuffer(8)]));
    (pair.toWorker[0] as number[])[0] = 17;
    expect(() => receive(pair)).toThrow(ProtocolError);
  });
});
