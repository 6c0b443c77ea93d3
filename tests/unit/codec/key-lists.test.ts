import { describe, expect, test } from "vitest";
import { Decoder } from "../../../src/codec/decoder.ts";
import { Encoder } from "../../../src/codec/encoder.ts";
import { SeenObjects } from "../../../src/codec/support/seen-objects.ts";
import {
  KeyListRegistry,
  MAX_KEY_LISTS,
  MAX_KEYS_OF_LISTS,
  MAX_LISTED_KEYS,
  ReceivedKeyLists,
} from "../../../src/codec/key-lists.ts";
import { SharedBuffers } from "../../../src/codec/support/shared-buffers.ts";
import { ProtocolError } from "../../../src/errors.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { roundTrip, send } from "../../support/codec.ts";
import { createRandom } from "../../support/random.ts";
import { createEndpoints } from "../../support/endpoints.ts";
import { capabilities, runCode } from "../../support/runtime.ts";

/** A sender and a receiver that have announced everything to each other. */
function pairOf(
  compiledAfter: number,
): { registry: KeyListRegistry; trip(value: unknown): unknown } {
  const registry = new KeyListRegistry(compiledAfter);
  const received = new ReceivedKeyLists(compiledAfter);
  const shared = new SharedBuffers(0);
  const encoder = new Encoder({
    access: currentRuntime,
    keyLists: registry,
    sharedBuffers: shared,
    maxPayloadBytes: Infinity,
    allowsBorrow: false,
  });
  const decoder = new Decoder(currentRuntime, received, shared);
  return {
    registry,
    trip(value) {
      encoder.end();
      const end = encoder.value(value, encoder.begin());
      if (registry.size > received.size) {
        received.add(registry.textFrom(received.size, MAX_KEY_LISTS));
      }
      return decoder.one(encoder.memory, 0, end);
    },
  };
}

test("a registry notes that it has seen keys which may recur", () => {
  const { registry, trip } = pairOf(Infinity);
  trip([1, "a", new Date(0), {}]);
  expect(registry.hasSeenKeys).toBe(false);
  trip({ id: 1 });
  expect(registry.hasSeenKeys).toBe(true);
});

describe.each([["compiled", 1], ["compiled later", 3], ["looping", Infinity]])(
  "%s",
  (_, compiledAfter) => {
    test("every kind of key and value arrives at each use of the key list", () => {
      const { trip } = pairOf(compiledAfter);
      const objects = [
        { a: 1, b: "x", c: true, d: null, e: undefined, f: -0, g: 1.5, h: [1], i: { a: 1 }, j: 2n },
        { "": 1, " ": 2, "a-b": 3, "ключ": 4, "\u2028": 5, '"quoted"\\': 6, "1": 7, "01": 8 },
        JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3, "x": 4}') as object,
        Object.fromEntries(Array.from({ length: 64 }, (_, key) => [`k${key}`, key])),
        Object.fromEntries(Array.from({ length: 200 }, (_, key) => [`k${key}`, key])),
        { b: 1, a: 2 },
        { a: 2, b: 1 },
        { length: 2, name: 3, prototype: 4, valueOf: 5 },
      ];
      for (let round = 0; round < 4; round++) {
        for (const object of objects) {
          const arrived = trip(object) as object;
          expect(Object.entries(arrived)).toEqual(Object.entries(object));
          expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
        }
      }
      expect(({} as { x?: number }).x).toBeUndefined();
    });

    test("a property deleted by a getter does not arrive and the others do", () => {
      const { trip } = pairOf(compiledAfter);
      for (let round = 0; round < 4; round++) {
        const object: Record<string, unknown> = {
          get a() {
            if (round > 1) delete object["c"];
            return 1;
          },
          b: 2,
          c: 3,
          d: undefined,
        };
        const expected = round > 1
          ? { a: 1, b: 2, d: undefined }
          : { a: 1, b: 2, c: 3, d: undefined };
        expect(Object.entries(trip({ outer: object }) as object)).toEqual([["outer", expected]]);
        expect(Object.keys((trip({ outer: object }) as { outer: object }).outer)).toEqual(
          Object.keys(expected),
        );
      }
    });

    test("cycles through objects of a known key list arrive", () => {
      const { trip } = pairOf(compiledAfter);
      for (let round = 0; round < 4; round++) {
        const node: { id: number; self?: unknown; next: unknown } = { id: round, next: null };
        node.next = { id: 1, next: node };
        const arrived = trip([node, node]) as [typeof node, typeof node];
        expect(arrived[0]).toBe(arrived[1]);
        expect((arrived[0].next as typeof node).next).toBe(arrived[0]);
      }
    });

    test("hostile streams of wide key lists use bounded memory and arrive", () => {
      const { registry, trip } = pairOf(compiledAfter);
      const wide = MAX_LISTED_KEYS - 1;
      const most = Math.floor(MAX_KEYS_OF_LISTS / wide);
      for (let n = 0; n < most + 20; n++) {
        const object = Object.fromEntries(
          Array.from({ length: wide }, (_, key) => [`${n}.${key}`, key]),
        );
        for (let round = 0; round < 2; round++) trip(object);
        if (n % 100 === 0 || n >= most) expect(trip(object)).toEqual(object);
      }
      expect(registry.size).toBe(most);
    });

    test("hostile streams of new key lists use bounded memory and arrive", () => {
      const { registry, trip } = pairOf(compiledAfter);
      for (let n = 0; n < 3000; n++) expect(trip({ [`only${n}`]: n })).toEqual({ [`only${n}`]: n });
      expect(registry.size).toBe(0);
      for (let n = 0; n < 3000; n++) {
        const object = { [`twice${n}`]: n };
        for (let round = 0; round < 3; round++) expect(trip(object)).toEqual(object);
      }
      expect(registry.size).toBe(MAX_KEY_LISTS);
      const same = (n: number) => ({ first: 1, [`second${n}`]: 2 });
      for (let n = 0; n < 200; n++) expect(trip(same(n % 50))).toEqual(same(n % 50));
    });
  },
);

describe("announcing key lists", () => {
  test("a key list that is invalid or out of order is a protocol error", () => {
    const received = new ReceivedKeyLists();
    received.add("0\ra\rb\nc");
    expect(received.size).toBe(2);
    for (const bad of ["0\ra", "3\ra", "2\ra\na", "", "x\ra", [2, ["a"]], null, {}]) {
      expect(() => received.add(bad)).toThrow(ProtocolError);
    }
    const wide = Array.from({ length: MAX_LISTED_KEYS }, (_, key) => `${key}`).join("\n");
    const many = `0${`\r${wide}`.repeat(MAX_KEYS_OF_LISTS / MAX_LISTED_KEYS)}`;
    new ReceivedKeyLists().add(many);
    expect(() => new ReceivedKeyLists().add(`${many}\rone more`)).toThrow(ProtocolError);
    expect(() => new ReceivedKeyLists().add(`0\r${wide}\none more`)).toThrow(ProtocolError);
  });

  test("keys that would be taken for two keys are sent with their objects", () => {
    const { registry, trip } = pairOf(1);
    for (const key of ["a\nb", "a\rb"]) {
      for (let round = 0; round < 3; round++) {
        expect(trip({ [key]: round })).toEqual({ [key]: round });
      }
    }
    expect(registry.size).toBe(0);
  });

  test("each lane receives its own announcements, even with a small ring", () => {
    const pairs = [createEndpoints(1024), createEndpoints(1 << 16)];
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`a long key ${n}`, n]));
    for (let round = 0; round < 4; round++) {
      for (const pair of pairs) {
        expect(send(pair, [{ a: round }, [{ b: 1, c: round }, { b: 1, c: round }]])).toEqual([
          { a: round },
          [{ b: 1, c: round }, { b: 1, c: round }],
        ]);
        expect(send(pair, [wide])).toEqual([wide]);
      }
    }
  });

  test("an object takes fewer bytes once its keys are known", () => {
    const pair = createEndpoints(1 << 16);
    const sizes: number[] = [];
    for (let round = 0; round < 4; round++) {
      const before = pair.host.tx.tailPosition;
      send(pair, [{ aLongKeyOfAnObject: 1, anotherLongKeyOfIt: 2 }]);
      sizes.push(pair.host.tx.tailPosition - before);
    }
    expect(sizes[3]).toBeLessThan(sizes[0]!);
  });
});

test.runIf(capabilities.forbidsCode)(
  "values arrive if code generation from strings is disabled",
  async () => {
    const support = new URL("../../support/codec.ts", import.meta.url).href;
    const { code, output } = await runCode(
      `import { roundTrip } from ${JSON.stringify(support)};
       const value = { a: 1, text: "short", list: [{ b: 2.5 }, { b: -1 }], nested: { a: "é" } };
       for (let n = 0; n < 4; n++) {
         if (JSON.stringify(roundTrip([value])[0]) !== JSON.stringify(value)) throw new Error("no");
       }
       try { new Function("return 1"); } catch { console.log("crossed"); }`,
      ["--disallow-code-generation-from-strings"],
    );
    expect({ code, output }).toEqual({ code: 0, output: "crossed\n" });
  },
);

describe("SeenObjects", () => {
  test.each([5, 12, 13, 95, 96, 97, 108, 109, 191, 192, 193, 2000])(
    "finds %i objects and forgets them",
    (count) => {
      const seen = new SeenObjects();
      for (let round = 0; round < 2; round++) {
        const objects = Array.from({ length: count }, () => ({}));
        for (const [index, object] of objects.entries()) {
          seen.current = index - 1;
          expect(seen.visit(object, index * 8)).toBe(-1);
        }
        for (const [index, object] of objects.entries()) {
          expect(seen.visit(object, 1)).toBe(index * 8);
        }
        seen.current = count - 1;
        expect(seen.chain()).toEqual(objects);
        const half = count >> 1;
        seen.forget(half);
        expect(seen.count).toBe(half);
        for (let index = 0; index < half; index++) {
          expect(seen.visit(objects[index], 1)).toBe(
            index * 8,
          );
        }
        seen.current = -1;
        for (let index = half; index < count; index++) {
          expect(seen.visit(objects[index], index * 8)).toBe(-1);
        }
        seen.forget(0);
        seen.current = -1;
      }
    },
  );

  // What is forgotten between is new when it comes again.
  test.each([0.01, 0.2, 0.7])("finds repeated objects in any order (share %d)", (share) => {
    const random = createRandom(1 + 100 * share);
    const seen = new SeenObjects();
    for (let round = 0; round < 20; round++) {
      const objects: object[] = [];
      let forgotten: object[] = [];
      for (let step = 0; step < 1500; step++) {
        const draw = random();
        if (draw < 0.001) {
          forgotten = objects.splice(Math.floor(random() * objects.length));
          seen.forget(objects.length);
        } else if (draw < share && objects.length > 0) {
          const index = Math.floor(random() * objects.length);
          expect(seen.visit(objects[index], 1)).toBe(8 * index);
        } else {
          const object = forgotten.pop() ?? {};
          expect(seen.visit(object, 8 * objects.length)).toBe(-1);
          objects.push(object);
        }
        expect(seen.count).toBe(objects.length);
      }
      seen.forget(0);
    }
  });

  test("does not search linearly among many objects", () => {
    const seen = new SeenObjects();
    const objects = Array.from({ length: 5000 }, () => ({}));
    for (const [index, object] of objects.entries()) seen.visit(object, 8 * index);
    const { indexOf } = Array.prototype;
    let searches = 0;
    Array.prototype.indexOf = function (this: unknown[], ...args) {
      searches++;
      return indexOf.apply(this, args);
    };
    try {
      for (const object of objects) seen.visit(object, 0);
    } finally {
      Array.prototype.indexOf = indexOf;
    }
    expect(searches).toBe(0);
  });
});

describe("cached strings", () => {
  test("always match the string written", () => {
    const words = Array.from(
      { length: 4000 },
      (_, n) => `${n * 7919 % 4001}`.padEnd(2 + n % 23, "ab"),
    );
    for (let round = 0; round < 3; round++) {
      expect(roundTrip([words])).toEqual([words]);
      expect(roundTrip(words)).toEqual(words);
    }
    const near = [
      "ab",
      "abc",
      "abcd",
      "abcde",
      "ab\0",
      "ab\0\0",
      "\0ab",
      "é1",
      "é2",
      "\xff\xff\xff\xff",
    ];
    for (let round = 0; round < 3; round++) {
      expect(roundTrip([near, ...near])).toEqual([near, ...near]);
    }
  });
});
