/** What a hostile review of the codec broke once. Each is a bug that was there. */
import { describe, expect, test } from "vitest";
import { Envelope, transfer } from "../../../src/features/values/rare/kinds/wrappers.ts";
import { DataCloneError, PayloadTooLargeError } from "../../../src/errors.ts";
import { receive, roundTrip, send, sendCall, sendHeldCall } from "../../support/codec.ts";
import { createEndpoints } from "../../support/endpoints.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import * as namespace from "../../support/random.ts";

describe("packed number arrays with another last element", () => {
  const ends: Record<string, readonly unknown[]> = {
    "a fraction": [0.5],
    "a string": ["x"],
    "a fraction, then a string": [0.5, "x"],
    "-0": [-0],
    "a hole's neighbour": [undefined, 1],
  };
  for (const capacity of [4096, 65_536]) {
    test.each(Object.entries(ends))(`end in %s, ring of ${capacity}`, (_, end) => {
      const pair = createEndpoints(capacity);
      for (let length = 1; length < capacity / 4; length = Math.ceil(length * 1.13)) {
        for (const start of [0, 0.25]) {
          const array = Array.from({ length }, (_, index): unknown => start + index);
          array.push(...end);
          expect(send(pair, [array, "after"])).toEqual([array, "after"]);
          // Held: encoded in scratch memory from the start.
          sendHeldCall(pair.host, pair.snapshots.capture([array]));
          expect(receive(pair)).toEqual([array]);
        }
      }
    });
  }
});

test("a stack overflow during encoding leaves the endpoint unchanged", () => {
  const pair = createEndpoints(65_536);
  const value = [{ a: "text", list: [1, 2.5, "x".repeat(100)] }, new Map([[1, { b: 2 }]])];
  for (let round = 0; round < 60; round++) {
    let left = round % 7;
    const dive = (): void => {
      try {
        dive();
      } catch {
        if (left-- > 0) {
          try {
            sendCall(pair.host, value);
          } catch {
            // as it may
          }
        }
      }
    };
    try {
      dive();
    } catch {
      // as it may
    }
    for (;;) {
      const index = pair.worker.rx.poll();
      if (index < 0) break;
      pair.worker.rx.acquire(index);
      const what = pair.worker.rx.memory.i32[(index >> 2) + 4]!;
      if ((what & 0xf) === 4) pair.worker.receiveKeyLists(index, what);
      else expect(pair.worker.readValues(index, what)).toEqual([...value]);
      pair.worker.rx.release();
    }
    pair.worker.rx.publish();
    expect(send(pair, [value])).toEqual([value]);
  }
});

describe("an uncloneable property of an error", () => {
  const cannot = () => {};

  test("does not affect other properties or the next value", () => {
    const pair = createEndpoints(65_536);
    const buffer = new ArrayBuffer(8);
    const large = new Uint8Array(100_000);
    for (const part of [{ b: transfer(buffer), cannot }, { large, cannot }, { large, shared: 1 }]) {
      const [error] = send(pair, [Object.assign(new Error("e"), { part })]) as [Error];
      expect(error).toBeInstanceOf(Error);
      expect(Object.keys(error)).toEqual("shared" in part ? ["part"] : []);
      const shared = new SharedArrayBuffer(8);
      expect(send(pair, [shared, new Uint8Array(90_000)])).toEqual([
        expect.any(SharedArrayBuffer),
        new Uint8Array(90_000),
      ]);
      expect(buffer.byteLength).toBe(8);
    }
  });

  test("does not count for maxPayloadBytes", () => {
    const pair = createEndpoints(65_536, 40_000);
    const error = Object.assign(new Error("e"), { part: { text: "x".repeat(4000), cannot } });
    expect(send(pair, [error, "y".repeat(2000)])[1]).toHaveLength(2000);
  });
});

describe("regular expressions", () => {
  test("flags are read from the internal slots", () => {
    let ran = 0;
    class Odd extends RegExp {
      override get flags(): string {
        ran++;
        return "g";
      }
    }
    const both = Object.defineProperties(/a/i, {
      unicode: { value: true },
      unicodeSets: { value: true },
      global: { value: true },
    });
    const [one, two, all] = roundTrip([both, new Odd("b", "y"), /c/dgimsuy]) as RegExp[];
    expect([one, two, all].map(String)).toEqual(["/a/i", "/b/y", "/c/dgimsuy"]);
    expect(ran).toBe(0);
  });
});

describe("transfers", () => {
  test("the same wrapper works twice, around a primitive, and around a value already written", () => {
    const buffer = new ArrayBuffer(8);
    const wrapped = transfer("text", [buffer]);
    expect(roundTrip([[wrapped, wrapped]])).toEqual([["text", "text"]]);
    expect(buffer.byteLength).toBe(0);
    const object = { a: 1 };
    const again = transfer(object, [new ArrayBuffer(8)]);
    const [first, second, third] = roundTrip([object, again, again]);
    expect(first).toEqual(object);
    expect([second === first, third === first]).toEqual([true, true]);
  });

  test("one buffer in two wrappers is transferred once", () => {
    const buffer = new ArrayBuffer(16);
    const views = [transfer(new Uint8Array(buffer, 0, 4)), transfer(new Uint16Array(buffer, 8))];
    const [one, two] = roundTrip(views) as [Uint8Array, Uint16Array];
    expect(one.buffer).toBe(two.buffer);
    expect([one.length, two.length, buffer.byteLength]).toEqual([4, 4, 0]);
  });

  test("if one buffer is detached, no buffer is transferred", () => {
    const good = new ArrayBuffer(8);
    const gone = new ArrayBuffer(8);
    gone.transfer();
    expect(() => roundTrip([transfer({ good }, [good, gone])])).toThrow(DataCloneError);
    expect(good.byteLength).toBe(8);
  });

  test("a large buffer of a subclass is copied without calling its methods", () => {
    let ran = 0;
    class Odd extends ArrayBuffer {
      override slice(): ArrayBuffer {
        ran++;
        return new ArrayBuffer(0);
      }
      static override get [Symbol.species]() {
        ran++;
        return ArrayBuffer;
      }
    }
    const odd = new Odd(100_000);
    new Uint8Array(odd)[3] = 5;
    const [arrived] = roundTrip([odd]) as [ArrayBuffer];
    expect([arrived.byteLength, new Uint8Array(arrived)[3], ran]).toEqual([100_000, 5, 0]);
    const shared = Buffer.from(new SharedArrayBuffer(100_000));
    expect((roundTrip([shared])[0] as Buffer).length).toBe(100_000);
  });
});

describe("objects that resemble plain objects", () => {
  test("arguments objects are refused even if their key list is known", () => {
    const argumentsOf = new Function("return arguments;") as (...args: unknown[]) => IArguments;
    for (let round = 0; round < 5; round++) {
      expect(roundTrip([{ "0": 1, "1": round }])).toEqual([{ "0": 1, "1": round }]);
      expect(() => roundTrip([argumentsOf(1, 2)])).toThrow(DataCloneError);
    }
  });

  test("module namespaces are refused", () => {
    const same = Object.fromEntries(Object.keys(namespace).map((key) => [key, 1]));
    for (let round = 0; round < 3; round++) {
      roundTrip([same]);
      expect(() => roundTrip([namespace])).toThrow(DataCloneError);
    }
  });

  test("a deleted property is not replaced by the inherited one", () => {
    class Point {
      a = 1;
      declare b?: number;
      constructor() {
        Object.defineProperty(this, "a", {
          enumerable: true,
          get: () => {
            delete this.b;
            return 1;
          },
        });
        Object.defineProperty(this, "b", { value: 2, enumerable: true, configurable: true });
      }
    }
    Object.defineProperty(Point.prototype, "b", { value: 99 });
    for (let round = 0; round < 5; round++) {
      expect(Object.entries(roundTrip([new Point()])[0] as object)).toEqual([["a", 1]]);
    }
  });

  test("a proxy as a prototype runs no trap except `has`", () => {
    const traps: string[] = [];
    const parent = new Proxy({}, {
      getPrototypeOf: () => {
        traps.push("getPrototypeOf");
        return null;
      },
      ownKeys: () => {
        traps.push("ownKeys");
        return [];
      },
    });
    for (let round = 0; round < 4; round++) {
      const object = Object.assign(Object.create(parent) as object, { x: 1 });
      expect(roundTrip([object])).toEqual([{ x: 1 }]);
    }
    expect(traps).toEqual([]);
  });
});

test("an Envelope may contain itself", () => {
  const header: { self?: unknown } = {};
  const envelope = new Envelope(header, new Uint8Array([1]));
  header.self = envelope;
  const [arrived] = roundTrip([envelope]) as [typeof envelope];
  expect(arrived).toBeInstanceOf(Envelope);
  expect((arrived.header as typeof header).self).toBe(arrived);
});

test("hasSpaceFor includes the key lists that must be announced first", () => {
  const pair = createEndpoints(1024);
  const wide = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key number ${n}`, n]));
  const snapshot = pair.snapshots.capture([wide]);
  pair.snapshots.capture([wide]); // seen twice: a key list now, and not announced
  const small = pair.snapshots.capture([1]);
  while (sendHeldCall(pair.host, snapshot));
  for (let round = 0; round < 20; round++) {
    expect(pair.host.hasSpaceFor(small)).toBe(sendHeldCall(pair.host, small));
  }
});

describe("identity and kind", () => {
  test("an object cloned by the runtime keeps its shared parts and cycles", () => {
    const part = { n: 1 };
    class Source extends EventTarget {
      readonly me: unknown = this;
      readonly part: object = part;
    }
    const make = (): unknown[] => [part, new Source()];
    let expected: unknown[];
    try {
      expected = structuredClone(make());
    } catch (error) {
      expect(() => roundTrip(make())).toThrow(DataCloneError);
      expect(error).toMatchObject({ name: "DataCloneError" });
      return;
    }
    const [arrived, source] = roundTrip([make()])[0] as [object, { part?: object; me?: object }];
    expect(Object.keys(source)).toEqual(Object.keys(expected[1] as object));
    expect(source.part === arrived).toBe((expected[1] as { part?: object }).part === expected[0]);
    expect(source.me === source).toBe((expected[1] as { me?: object }).me === expected[1]);
  });

  test("an object cloned by the runtime runs its getters once", () => {
    let reads = 0;
    const target = Object.defineProperty(new EventTarget(), "read", {
      enumerable: true,
      get: () => ++reads,
    });
    try {
      structuredClone(target);
    } catch {
      return; // the runtime refuses it
    }
    reads = 0;
    expect(roundTrip([target])).toEqual([
      structuredClone(Object.assign(new EventTarget(), { read: 1 })),
    ]);
    expect(reads).toBe(1);
  });

  test("errors and Maps are recognized after objects that only inherit from their class", () => {
    class Failure extends Error {
      readonly status = 5;
    }
    class Table extends Map<string, number> {
      readonly label = "t";
    }
    const fake = Object.assign(Object.create(Failure.prototype) as object, { a: 1 });
    const fakeTable = Object.assign(Object.create(Table.prototype) as object, { a: 1 });
    const [values] = roundTrip([[fake, new Failure("boom"), fakeTable, new Table([["x", 1]])]]);
    const [first, error, third, table] = values as unknown[];
    expect([first, third]).toEqual([{ a: 1 }, { a: 1 }]);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ message: "boom", status: 5 });
    expect(table).toEqual(new Map([["x", 1]]));
  });
});

describe("array lengths that change while the first element is read", () => {
  const withGetter = (rest: number[], act: (array: unknown[]) => void): unknown[] =>
    Object.defineProperty([0, ...rest] as unknown[], 0, {
      enumerable: true,
      configurable: true,
      get(this: unknown[]) {
        act(this);
        return 7;
      },
    });

  test.runIf(!currentRuntime.kinds.clonesLive)("arrive with the length before the change", () => {
    expect(roundTrip([withGetter([], (array) => array.push(1, 2))])).toEqual([[7]]);
    expect(roundTrip([withGetter([], (array) => array.length = 4)])).toEqual([[7]]);
  });

  test("an array that shrinks stays within its reserved space", () => {
    const pair = createEndpoints(4096);
    for (let units = 0; units < 64; units++) {
      const value = withGetter([1, 2, 3], (array) => array.length = 1);
      const [text, array, after] = send(pair, ["x".repeat(units), value, "after"]);
      expect([text, after]).toEqual(["x".repeat(units), "after"]);
      expect((array as unknown[])[0]).toBe(7);
    }
  });
});

test("a listed buffer is transferred even if the error property with it is left out", () => {
  const pair = createEndpoints(4096);
  const buffer = new ArrayBuffer(8);
  const error = Object.assign(new Error("e"), { part: { buffer, f: () => {} } });
  const [arrived] = send(pair, [transfer(error, [buffer])]);
  expect(arrived).toBeInstanceOf(Error);
  expect(Object.hasOwn(arrived as object, "part")).toBe(false);
  expect(buffer.byteLength).toBe(0);
});

describe("strings of a refused value", () => {
  /** What tells them apart fits scratch memory, and the strings do not. */
  const names = Array.from({ length: 1500 }, (_, index) => `secret ${index}`.padEnd(60));

  test("do not appear in the next value", () => {
    const pair = createEndpoints(65_536, 40_000);
    const next = [{ name: "good" }, ["a", "b"], "plain"];
    for (let round = 0; round < 3; round++) {
      expect(() => send(pair, [names])).toThrow(PayloadTooLargeError);
      expect(() => pair.snapshots.capture([names])).toThrow(PayloadTooLargeError);
      expect(send(pair, next)).toEqual(next);
      sendHeldCall(pair.host, pair.snapshots.capture(next));
      expect(receive(pair)).toEqual(next);
    }
  });
});

test("property descriptors do not inherit from a modified Object.prototype", () => {
  const pair = createEndpoints(65_536);
  const error = Object.assign(new Error("e", { cause: 1 }), { code: "C" });
  const value = { constructor: 1, nested: JSON.parse('{"__proto__": 2, "toString": 3}') as object };
  let arrived: unknown[];
  Object.defineProperty(Object.prototype, "get", {
    value: () => 5,
    configurable: true,
    writable: true,
  });
  try {
    arrived = send(pair, [value, error]);
  } finally {
    delete (Object.prototype as { get?: unknown }).get;
  }
  const [first, second] = arrived as [typeof value, typeof error];
  expect(Object.entries(first)).toEqual(Object.entries(value));
  expect([second.message, second.code, second.cause]).toEqual(["e", "C", 1]);
});
