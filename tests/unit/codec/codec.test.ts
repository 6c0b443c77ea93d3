import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Decoder } from "../../../src/codec/decoder.ts";
import { Encoder } from "../../../src/codec/encoder.ts";
import { normalizeNumber } from "../../../src/codec/kinds/numbers.ts";
import { SharedBuffers } from "../../../src/codec/support/shared-buffers.ts";
import { ARRAY, SPARSE } from "../../../src/codec/tags.ts";
import { DataCloneError, PayloadTooLargeError, ProtocolError } from "../../../src/errors.ts";
import { copyWords, viewMemory } from "../../../src/memory/views.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { decode, encode } from "../../support/codec.ts";

const shared = new SharedBuffers(0);
const encoder = createEncoder();
const decoder = new Decoder(currentRuntime, undefined, shared);
/** In front of the units of a string. */
const TEXT_HEADER_BYTES = 8;
const SIZE = 1 << 20;
const memory = viewMemory(new SharedArrayBuffer(SIZE));

function createEncoder(maxPayloadBytes = Infinity): Encoder {
  return new Encoder({
    access: currentRuntime,
    keyLists: undefined,
    sharedBuffers: shared,
    maxPayloadBytes,
    allowsBorrow: true,
  });
}

/** Writes `value` and copies it to `offset` of `memory`; returns where it ends. */
function write(value: unknown, offset = 0): number {
  encoder.end();
  const end = encoder.value(value, encoder.begin());
  copyWords(encoder.memory, memory, offset, end);
  return offset + end;
}

/** What arrives for `value`, written at `offset`. */
function roundTrip(value: unknown, offset = 0): unknown {
  memory.u8.fill(0xa5, offset, offset + 256);
  const end = write(value, offset);
  expect(end).toBeGreaterThan(offset);
  expect(end % 8).toBe(0);
  const arrived = decoder.one(memory, offset, end);
  expect(decoder.next).toBe(end);
  return arrived;
}

/** Encodes behind other values, where every smaller room is left of the memory: it goes on in larger memory, whole. */
function expectToGrow(value: unknown): void {
  const bytes = write(value);
  const growing = createEncoder();
  for (let left = 0; left < bytes; left += 8) {
    const start = growing.begin();
    const before = "x".repeat(growing.limit - left - TEXT_HEADER_BYTES);
    const from = growing.value(before, start);
    expect(growing.limit - from).toBe(left);
    const end = growing.value(value, from);
    expect(end).toBe(from + bytes);
    expect(decoder.all(growing.memory, start, end, 2)).toEqual([before, value]);
    growing.end();
  }
}

describe("numbers and constants", () => {
  test.each([
    0,
    -0,
    1,
    -1,
    0.1,
    NaN,
    Infinity,
    -Infinity,
    Number.MAX_VALUE,
    Number.MIN_VALUE,
    Number.MAX_SAFE_INTEGER,
    2 ** 31,
    -(2 ** 31) - 1,
    true,
    false,
    null,
    undefined,
  ])("%s arrives unchanged", (value) => {
    expect(Object.is(roundTrip(value), value)).toBe(true);
    expect(Object.is(roundTrip(value, 40), value)).toBe(true);
    expectToGrow(value);
  });

  test("normalizeNumber keeps every value", () => {
    const special = [0, -0, NaN, Infinity, -Infinity, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 0.5, -0.5];
    for (const value of special) expect(Object.is(normalizeNumber(value), value)).toBe(true);
    fc.assert(fc.property(fc.double(), (value) => Object.is(normalizeNumber(value), value)));
    fc.assert(fc.property(fc.integer(), (value) => Object.is(normalizeNumber(value), value)));
  });

  test.each([
    0n,
    -1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    2n ** 63n,
    -(2n ** 63n) - 1n,
    2n ** 64n,
    -(16n ** 15n),
    2n ** 1000n + 12345n,
    -(2n ** 4000n) + 1n,
  ])("bigint %s arrives unchanged", (value) => {
    expect(roundTrip(value)).toBe(value);
    expectToGrow(value);
  });
});

describe("strings", () => {
  const lengths = [0, 1, 7, 8, 9, 31, 32, 33, 34, 63, 64, 65, 255, 256, 4095, 4096, 4097, 10_000];
  const alphabets: Record<string, string> = {
    "ASCII": "az09 ~\u0000\u007f",
    "Latin-1": "aé\u0080\u00ffü",
    "two bytes": "aЖ中\u0100\uffff\ufeff",
    "surrogate pairs": "a😀𝒳",
    "lone surrogates": "a\ud800b\udfff\udc00",
  };
  for (const [name, alphabet] of Object.entries(alphabets)) {
    test.each(lengths)(`${name}, %i characters`, (length) => {
      const units = [...alphabet];
      const text = Array.from({ length }, (_, index) => units[index % units.length]).join("");
      expect(roundTrip(text)).toBe(text);
      expect(roundTrip(text, 24)).toBe(text);
      if (length < 300) expectToGrow(text);
    });
  }

  test("strings around the length limits arrive with one odd character at each position", () => {
    for (const odd of ["\u0080", "\u00ff", "\u0100", "\ud800", "😀"]) {
      for (const length of [31, 32, 33, 40]) {
        for (let place = 0; place < length; place++) {
          const text = "x".repeat(place) + odd + "y".repeat(length - place - 1);
          expect(roundTrip(text)).toBe(text);
        }
      }
    }
  });

  test("long strings arrive with one odd character at each tested position", () => {
    for (const length of [63, 64, 65, 256, 2047, 2048, 2049, 16_384, 65_536, 200_001]) {
      for (const odd of ["z", "\u007f", "\u0080", "\u00ff", "\u0100", "\ud800"]) {
        for (const place of [0, 1, (length >> 1) - 1, length >> 1, length - 2, length - 1]) {
          const text = "x".repeat(place) + odd + "y".repeat(length - place - 1);
          expect(roundTrip(text) === text, `${escape(odd)} at ${place} of ${length}`).toBe(true);
        }
      }
    }
    for (const length of [512 * 1024, 512 * 1024 + 1, 1_000_000]) {
      for (const odd of ["z", "\u00ff"]) {
        const text = "x".repeat(length - 1) + odd;
        expect(roundTrip(text) === text).toBe(true);
      }
    }
  });

  test("a byte order mark arrives as text", () => {
    for (const text of ["\ufeff", "\ufeffabc", `\ufeff${"x".repeat(50)}ä`, "\ufffe".repeat(40)]) {
      expect(roundTrip(text)).toBe(text);
    }
  });

  test("any string arrives (property)", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 200 }),
          fc.string({ unit: "binary", maxLength: 200 }),
          fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 }).map((units) =>
            String.fromCharCode(...units)
          ),
        ),
        fc.nat(20),
        (text, slot) => roundTrip(text, slot * 8) === text,
      ),
      { numRuns: 2000 },
    );
  });
});

describe("bytes", () => {
  const constructors = [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    ...("Float16Array" in globalThis
      ? [(globalThis as unknown as { Float16Array: typeof Float32Array }).Float16Array]
      : []),
  ];

  const bytesOf = (view: ArrayBufferView) => [
    ...new Uint8Array(view.buffer, view.byteOffset, view.byteLength),
  ];

  for (const constructor of constructors) {
    test(constructor.name, () => {
      const size = constructor.BYTES_PER_ELEMENT;
      for (const length of [0, 1, 2, 3, 8, 9, 100, 1000]) {
        const view = new constructor(length);
        new Uint8Array(view.buffer).forEach((_, index, all) => all[index] = index * 7);
        const arrived = roundTrip(view) as typeof view;
        expect(Object.getPrototypeOf(arrived)).toBe(constructor.prototype);
        expect(arrived.buffer).toBeInstanceOf(ArrayBuffer);
        expect(arrived.buffer.byteLength).toBe(view.buffer.byteLength);
        expect(bytesOf(arrived)).toEqual(bytesOf(view));
        if (length < 10) expectToGrow(view);
      }
      const part = new constructor(new ArrayBuffer(10 * size), 2 * size, 5);
      const arrived = roundTrip(part) as typeof part;
      expect([arrived.byteOffset, arrived.length, arrived.buffer.byteLength]).toEqual([
        2 * size,
        5,
        10 * size,
      ]);
      expectToGrow(part);
    });
  }

  test("an ArrayBuffer arrives", () => {
    for (const length of [0, 1, 7, 8, 9, 5000]) {
      const buffer = new Uint8Array(length).map((_, index) => index).buffer;
      const arrived = roundTrip(buffer) as ArrayBuffer;
      expect(arrived).toBeInstanceOf(ArrayBuffer);
      expect([...new Uint8Array(arrived)]).toEqual([...new Uint8Array(buffer)]);
    }
  });

  test("a DataView of a whole buffer or a part of it arrives", () => {
    const buffer = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 9]).buffer;
    for (
      const view of [new DataView(buffer), new DataView(buffer, 3, 4), new DataView(buffer, 9)]
    ) {
      const arrived = roundTrip(view) as DataView;
      expect(arrived).toBeInstanceOf(DataView);
      expect([arrived.byteOffset, arrived.byteLength]).toEqual([view.byteOffset, view.byteLength]);
      expect(bytesOf(arrived)).toEqual(bytesOf(view));
    }
  });

  test("a Buffer arrives as a Buffer with only its own bytes", () => {
    for (const buffer of [Buffer.from("pooled"), Buffer.alloc(0), Buffer.alloc(9000, 3)]) {
      const arrived = roundTrip(buffer) as Buffer;
      expect(Buffer.isBuffer(arrived)).toBe(true);
      expect(arrived.equals(buffer)).toBe(true);
      expect(arrived.buffer.byteLength).toBe(buffer.length);
    }
  });

  test("a subclass arrives as its base class and its getters do not run", () => {
    class Lying extends Uint8Array {
      override get byteLength(): number {
        throw new Error("user code ran");
      }
      override get length(): number {
        throw new Error("user code ran");
      }
    }
    const arrived = roundTrip(new Lying([1, 2, 3])) as Uint8Array;
    expect(Object.getPrototypeOf(arrived)).toBe(Uint8Array.prototype);
    expect([...arrived]).toEqual([1, 2, 3]);
  });

  test("detached buffers and their views are refused", () => {
    const detached = new ArrayBuffer(8);
    const views: unknown[] = [new Uint8Array(detached), new DataView(detached), detached];
    structuredClone(detached, { transfer: [detached] });
    const shrunk = new ArrayBuffer(16, { maxByteLength: 16 });
    views.push(new Uint16Array(shrunk, 8), new Uint8Array(shrunk, 8, 8), new DataView(shrunk, 8));
    shrunk.resize(4);
    for (const value of views) expect(() => encode([value])).toThrow(DataCloneError);
  });

  test("a buffer shared by several values is written once", () => {
    const buffer = new ArrayBuffer(160);
    const values = [
      new Uint8Array(buffer),
      new Float64Array(buffer, 8, 2),
      new DataView(buffer, 1),
      buffer,
    ];
    for (const list of [values, [...values].reverse()]) {
      const bytes = encode(list);
      expect(bytes.length).toBeLessThan(300);
      const arrived = decode(bytes, 4) as typeof values;
      const buffers = arrived.map((each) => ArrayBuffer.isView(each) ? each.buffer : each);
      expect(new Set(buffers).size).toBe(1);
    }
  });
});

describe("capacity", () => {
  test("a value above the limit is refused with its size", () => {
    const small = createEncoder(1000);
    for (const value of ["x".repeat(2000), new Uint8Array(2000), Array(500).fill("ab")]) {
      small.end();
      expect(() => {
        small.checkSize(small.value(value, small.begin()));
      }).toThrow(PayloadTooLargeError);
    }
    small.end();
    expect(small.value("x".repeat(900), small.begin())).toBe(912);
  });

  test("values that outgrow the encoder's memory arrive complete", () => {
    const words = Array.from({ length: 100_000 }, (_, index) => `word ${index}`);
    const nested = { words, map: new Map(words.map((word, index) => [word, { index }])) };
    expect(decode(encode([nested, words]), 2)).toEqual([nested, words]);
  });
});

describe("damaged input", () => {
  test("any bytes decode to a value or a coded error without a read past the limit", () => {
    const words = fc.array(fc.integer(), { minLength: 2, maxLength: 40 });
    const tag = fc.integer({ min: 0, max: 0xf_ffff });
    fc.assert(
      fc.property(tag, words, (first, rest) => {
        memory.i32.set([first, ...rest], 0);
        const limit = ((rest.length + 1) * 4) & ~7;
        try {
          decoder.one(memory, 0, limit);
          expect(decoder.next).toBeLessThanOrEqual(limit);
        } catch (error) {
          expect((error as { code?: string }).code).toMatch(/^HEDDLE_/);
        }
      }),
      { numRuns: 5000 },
    );
  });

  test("a length beyond the limit is refused before any allocation", () => {
    const end = write(new Uint8Array(64));
    for (const length of [65 * 8, 2 ** 40, -1, NaN, 0.5, Infinity]) {
      memory.f64[1] = length;
      expect(() => decoder.one(memory, 0, end)).toThrow(ProtocolError);
    }
  });

  test("arrays that claim the same bytes are refused before any allocation", () => {
    const large = viewMemory(new SharedArrayBuffer(4 << 20));
    const bytes = large.u8.length;
    const claims: Record<string, (at: number) => number> = {
      // All that is left, and the next one within: four gigabytes, at eight bytes an element.
      ARRAY: (at) => {
        large.i32.set([ARRAY, ((bytes - at) >> 3) - 1], at >> 2);
        return at + 8;
      },
      // Nothing but holes, nearly as many as are not worth a table: eight gigabytes.
      SPARSE: (at) => {
        large.i32.set([SPARSE, 0], at >> 2);
        large.f64[(at >> 3) + 1] = 4000;
        return at + 16;
      },
    };
    for (const [name, claim] of Object.entries(claims)) {
      const end = name === "ARRAY" ? 8000 : bytes - 16;
      let at = 8;
      let count = 0;
      for (; at < end; count++) at = claim(at);
      large.i32.set([ARRAY, count + 1]);
      large.i32[at >> 2] = 0xff; // no tag
      const before = process.memoryUsage().rss;
      expect(() => decoder.one(large, 0, bytes)).toThrow(ProtocolError);
      expect(process.memoryUsage().rss - before).toBeLessThan(400 << 20);
    }
  });

  test("a bigint whose digits are none is a protocol error", () => {
    const end = write(2n ** 80n);
    const first = 16; // behind the tags of the bigint and of its text
    expect(String.fromCharCode(memory.u8[first]!)).toBe("1");
    for (const digit of ["g", " ", "n", "\0", "x"]) {
      memory.u8[first] = digit.charCodeAt(0);
      expect(() => decoder.one(memory, 0, end)).toThrow(ProtocolError);
    }
  });

  test("a value shorter or longer than its record is refused", () => {
    for (
      const value of [1.5, "some text that is long enough to be native", 2n ** 70n, Buffer.alloc(9)]
    ) {
      const end = write(value);
      for (let limit = 0; limit < end; limit += 8) {
        expect(() => decoder.one(memory, 0, limit)).toThrow(ProtocolError);
      }
      expect(() => decoder.one(memory, 0, end + 8)).toThrow(/corrupt: impossible end/);
      expect(() => decoder.all(memory, 0, end + 8, 1)).toThrow(/corrupt: impossible end/);
    }
  });
});
