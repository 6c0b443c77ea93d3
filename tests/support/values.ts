/**
 * fast-check arbitraries for values that `structuredClone` clones: what the codec is compared on.
 *
 * A value is a graph: parts are made first, each hung below an earlier one, and then further edges
 * are added between any of them, so shared references and cycles are as common as in the worst of
 * users' data. Shrinking takes parts and edges away.
 *
 * Left out, because `structuredClone` is no oracle for them: errors, `Buffer`, symbols,
 * `SharedArrayBuffer` and other platform objects, and own properties of a `Map` (Bun keeps them).
 */
import fc, { type Arbitrary } from "fast-check";
import { capabilities } from "./runtime.ts";

type Kind = {
  readonly name: string;
  readonly BYTES_PER_ELEMENT?: number;
  new (buffer: ArrayBuffer, offset?: number, length?: number): ArrayBufferView;
};

/** Every kind of view this runtime has; Node 22 has no Float16Array. */
export const viewKinds: readonly Kind[] = [
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
  DataView,
  ...("Float16Array" in globalThis
    ? [(globalThis as unknown as { Float16Array: Kind }).Float16Array]
    : []),
];

function elementBytes(kind: Kind): number {
  return kind.BYTES_PER_ELEMENT ?? 1;
}

// --- primitives -------------------------------------------------------------

const alphabets: readonly (readonly string[])[] = [
  [..."az09 ~\u0000\u007f"],
  [..."aé\u0080\u00ffü"],
  [..."aЖ中\u0100\uffff\ufeff"],
  ["x", "😀", "𝒳"],
  ["a", "\ud800", "b", "\udfff", "\udc00"],
];

/** Lengths at and around the places where an encoder may change its ways. */
const lengths = [0, 1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 34, 63, 64, 65, 127, 128];
const longLengths = [255, 256, 257, 1000, 4095, 4096, 4097];

const patterned: Arbitrary<string> = fc.tuple(
  fc.constantFrom(...alphabets),
  fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...lengths) }, {
    weight: 1,
    arbitrary: fc.constantFrom(...longLengths),
  }),
  fc.nat(4),
).map(([units, length, start]) =>
  Array.from({ length }, (_, index) => units[(index + start) % units.length]).join("")
);

/** One unlike character somewhere in a plain string. */
const oddOneOut: Arbitrary<string> = fc.tuple(
  fc.constantFrom("\u0080", "\u00ff", "\u0100", "\ud800", "\udc00", "😀"),
  fc.nat(70),
  fc.nat(70),
).map(([odd, before, after]) => "x".repeat(before) + odd + "y".repeat(after));

export const texts: Arbitrary<string> = fc.oneof(
  patterned,
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  oddOneOut,
);

export const bigints: Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -1000n, max: 1000n }),
  fc.tuple(fc.constantFrom(31n, 32n, 53n, 62n, 63n, 64n, 65n, 127n, 128n), fc.constantFrom(-1n, 1n))
    .chain(([bits, sign]) =>
      fc.bigInt({ min: -2n, max: 2n }).map((near) => sign * 2n ** bits + near)
    ),
  fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }),
  fc.tuple(fc.constantFrom(1000n, 1024n, 4000n, 4096n), fc.constantFrom(-1n, 1n))
    .map(([bits, sign]) => sign * (2n ** bits - 1n)),
);

const integers: Arbitrary<number> = fc.oneof(
  fc.integer({ min: -200, max: 300 }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(
    -0,
    0,
    -1,
    2 ** 30,
    2 ** 31 - 1,
    2 ** 31,
    -(2 ** 31),
    2 ** 32 - 1,
    2 ** 32,
    2 ** 53,
  ),
);

export const numbers: Arbitrary<number> = fc.oneof(
  integers,
  fc.double(),
  fc.constantFrom(NaN, Infinity, -Infinity, 0.1, -0, Number.MIN_VALUE, Number.MAX_VALUE),
);

export const primitives: Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: numbers },
  { weight: 4, arbitrary: texts },
  { weight: 1, arbitrary: bigints },
  { weight: 1, arbitrary: fc.constantFrom(true, false) },
  { weight: 1, arbitrary: fc.constantFrom(undefined, null) },
);

/** Property names: ordinary ones, and those that have a meaning elsewhere. */
export const keys: Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "id", "name", "value", "x", "y") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "__proto__",
      "constructor",
      "prototype",
      "toString",
      "valueOf",
      "hasOwnProperty",
      "__defineGetter__",
      "toJSON",
      "then",
      "length",
      "",
      " ",
      "a b",
      'quote"s\\',
      "new\nline\u2028",
      "${x}`",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("0", "1", "7", "-1", "-0", "01", "1.5", "4294967294", "4294967295"),
  },
  { weight: 1, arbitrary: fc.nat(100).map(String) },
  { weight: 1, arbitrary: fc.constantFrom("é", "ключ", "键", "😀", "\ud800", "\ufeff") },
  { weight: 1, arbitrary: texts },
);

// --- parts of a graph -------------------------------------------------------

/** What a part can take in: its use of the key depends on its kind. */
type Attach = (key: string, child: unknown) => void;

interface Part {
  readonly value: object;
  /** Missing where the part cannot hold others. */
  readonly attach?: Attach;
}

/** Makes the part, given the buffers made before it. Parts are made anew for every value. */
type Recipe = (buffers: ArrayBuffer[]) => Part;

/** Sets an own property whatever its name. */
function setOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function objectPart(target: object, entries: Iterable<readonly [string, unknown]>): Part {
  for (const [key, value] of entries) setOwn(target, key, value);
  return { value: target, attach: (key, child) => setOwn(target, key, child) };
}

class Point {
  x = 1;
  y: unknown = undefined;
  readonly #hidden = 2;
  get hidden(): number {
    return this.#hidden;
  }
}
class List extends Array<unknown> {}

/** Key lists that come again and again, each with values of its own. */
const keyLists: readonly (readonly string[])[] = [
  ["id", "name", "active"],
  ["x", "y"],
  ["y", "x"],
  ["id", "name", "tags", "nested"],
  ["a"],
  ["type", "payload", "at"],
  ["__proto__", "a"],
  ["0", "a", "1"],
  Array.from({ length: 20 }, (_, index) => `field${index}`),
];

const entries = fc.array(fc.tuple(keys, primitives), { maxLength: 6 });

const objectsOfKeyLists: Arbitrary<Recipe> = fc.constantFrom(...keyLists).chain((keyList) =>
  fc.tuple(...keyList.map(() => primitives)).map((values) => () =>
    objectPart({}, keyList.map((key, index) => [key, values[index]] as const))
  )
);

const freeObjects: Arbitrary<Recipe> = fc.tuple(
  fc.constantFrom(
    () => ({}),
    () => ({}),
    () => Object.create(null) as object,
    () => new Point(),
    () => Object.create({ inherited: 1 }) as object,
  ),
  entries,
).map(([make, all]) => () => objectPart(make(), all));

const wideObjects: Arbitrary<Recipe> = fc.tuple(
  fc.integer({ min: 60, max: 140 }),
  fc.constantFrom("k", "", "ж"),
  primitives,
).map(([count, prefix, value]) => () =>
  objectPart({}, Array.from({ length: count }, (_, index) => [`${prefix}${index}`, value] as const))
);

/** Lengths near 2^32 are no limit, but `structuredClone` on Bun takes 15 ns for each hole. */
const hugeLengths = capabilities.clonesHugeHoles ? [10_000, 4_000_000_000, 2 ** 32 - 1] : [10_000];

function setExtra(array: unknown[], key: string, value: unknown): void {
  if (key === "length" || Number(key) >= hugeLengths.at(-1)!) return;
  setOwn(array, key, value);
}

function arrayPart(array: unknown[]): Part {
  return {
    value: array,
    attach: (key, child) => {
      if (array.length < 1000 && !/[^a-z]/.test(key)) array.push(child);
      else setExtra(array, key, child);
    },
  };
}

const numberArrays: Arbitrary<Recipe> = fc.oneof(
  fc.array(fc.integer({ min: -128, max: 127 }), { maxLength: 40 }),
  fc.array(fc.integer(), { maxLength: 20 }),
  fc.array(integers, { maxLength: 20 }),
  fc.array(fc.double(), { maxLength: 20 }),
  fc.array(numbers, { maxLength: 20 }),
  fc.integer({ min: 100, max: 300 }).map((length) =>
    Array.from({ length }, (_, index) => index / 2)
  ),
).map((list) => () => arrayPart([...list]));

const mixedArrays: Arbitrary<Recipe> = fc.oneof(
  fc.array(primitives, { maxLength: 10 }),
  fc.array(texts, { maxLength: 10 }),
  fc.array(fc.constantFrom(true, false, null, undefined), { maxLength: 10 }),
).map((list) => () => arrayPart([...list]));

const HOLE = Symbol("hole");

/** Holes at any place, extra keys, lengths without elements, a subclass. */
const oddArrays: Arbitrary<Recipe> = fc.tuple(
  fc.array(fc.oneof(fc.constant(HOLE), numbers, primitives), { maxLength: 12 }),
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: fc.nat(40) },
    { weight: 1, arbitrary: fc.constantFrom(...hugeLengths) },
  ),
  fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, entries),
  fc.boolean(),
).map(([list, length, extra, subclass]) => () => {
  const array: unknown[] = subclass ? new List() : [];
  list.forEach((each, index) => {
    if (each !== HOLE) array[index] = each;
  });
  array.length = Math.max(list.length, length);
  for (const [key, value] of extra) setExtra(array, key, value);
  return arrayPart(array);
});

const maps: Arbitrary<Recipe> = fc.tuple(
  fc.oneof(fc.array(fc.tuple(primitives, primitives), { maxLength: 6 }), entries),
  fc.boolean(),
).map(([all, asKeys]) => () => {
  const map = new Map<unknown, unknown>(all);
  return {
    value: map,
    attach: (key, child) => asKeys ? map.set(child, key) : map.set(key, child),
  };
});

const sets: Arbitrary<Recipe> = fc.array(primitives, { maxLength: 6 }).map((all) => () => {
  const set = new Set<unknown>(all);
  return { value: set, attach: (_key, child) => set.add(child) };
});

const dates: Arbitrary<Recipe> = fc.oneof(
  fc.double().map((time) => new Date(time).getTime()),
  fc.integer(),
  fc.constantFrom(NaN, 0, -0, 8.64e15, -8.64e15),
).map((time) => () => ({ value: new Date(time) }));

const regExps: Arbitrary<Recipe> = fc.tuple(
  fc.constantFrom("", "a+(?<name>b)", "/", "\\/\n", "[\\/]", "é", "中|\\u{1F600}", "(?:)", "^$"),
  fc.subarray([..."dgimsy"]),
  fc.constantFrom("", "u", "v"),
  fc.nat(3),
).map(([source, flags, unicode, lastIndex]) => () => {
  const value = new RegExp(source, flags.join("") + unicode);
  value.lastIndex = lastIndex;
  return { value };
});

const boxes: Arbitrary<Recipe> = fc.oneof(numbers, texts, fc.boolean(), bigints).map(
  (inner) => () => ({
    value: Object(inner) as object,
  }),
);

/** Own properties that cloning drops. */
const decorated: Arbitrary<Recipe> = fc.tuple(fc.oneof(dates, boxes, regExps), keys, primitives)
  .map(([make, key, value]) => (buffers) => {
    const part = make(buffers);
    if (!Object.hasOwn(part.value, key)) setOwn(part.value, key, value);
    return part;
  });

// --- bytes ------------------------------------------------------------------

const contents = fc.oneof(
  { weight: 5, arbitrary: fc.uint8Array({ maxLength: 48 }) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 60, max: 2000 }).map((length) =>
      new Uint8Array(length).map((_, index) => index * 7)
    ),
  },
);

function makeBuffer(bytes: Uint8Array, spare: number | undefined): ArrayBuffer {
  const buffer = spare === undefined
    ? new ArrayBuffer(bytes.length)
    : new ArrayBuffer(bytes.length, { maxByteLength: bytes.length + spare });
  new Uint8Array(buffer).set(bytes);
  return buffer;
}

const bufferMakers: Arbitrary<() => ArrayBuffer> = fc.tuple(
  contents,
  fc.constantFrom(undefined, undefined, undefined, 0, 1, 8, 100),
).map(([bytes, spare]) => () => makeBuffer(bytes, spare));

const buffers: Arbitrary<Recipe> = bufferMakers.map((make) => (known) => {
  const value = make();
  known.push(value);
  return { value };
});

/** A view on a buffer of its own or on one that is there already: whole, a part, or tracking it. */
const views: Arbitrary<Recipe> = fc.tuple(
  fc.constantFrom(...viewKinds),
  bufferMakers,
  fc.option(fc.nat(5), { freq: 2 }),
  fc.constantFrom("whole", "part", "tracking"),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.double({ min: 0, max: 1, noNaN: true }),
).map(([kind, make, which, extent, from, share]) => (known) => {
  const buffer = which === null || known.length === 0 ? make() : known[which % known.length]!;
  if (!known.includes(buffer)) known.push(buffer);
  const size = elementBytes(kind);
  const elements = Math.floor(buffer.byteLength / size);
  const start = extent === "whole" ? 0 : Math.floor(from * elements);
  const length = extent === "whole" ? elements : Math.floor(share * (elements - start));
  if (extent === "tracking" && buffer.resizable) return { value: new kind(buffer, start * size) };
  return { value: new kind(buffer, start * size, length) };
});

// --- graphs -----------------------------------------------------------------

const containers: Arbitrary<Recipe> = fc.oneof(
  { weight: 5, arbitrary: objectsOfKeyLists },
  { weight: 4, arbitrary: freeObjects },
  { weight: 1, arbitrary: wideObjects },
  { weight: 2, arbitrary: numberArrays },
  { weight: 3, arbitrary: mixedArrays },
  { weight: 2, arbitrary: oddArrays },
  { weight: 2, arbitrary: maps },
  { weight: 2, arbitrary: sets },
);

const recipes: Arbitrary<Recipe> = fc.oneof(
  { weight: 21, arbitrary: containers },
  { weight: 1, arbitrary: dates },
  { weight: 1, arbitrary: regExps },
  { weight: 2, arbitrary: boxes },
  { weight: 1, arbitrary: decorated },
  { weight: 1, arbitrary: buffers },
  { weight: 5, arbitrary: views },
);

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly key: string;
}

const edges: Arbitrary<Edge> = fc.record({ from: fc.nat(1000), to: fc.nat(1000), key: keys });

/** Parts in order, the first of them a container that all others hang below. */
function build(make: readonly Recipe[], tree: readonly Edge[], extra: readonly Edge[]): object[] {
  const known: ArrayBuffer[] = [];
  const parts = make.map((recipe) => recipe(known));
  const holders = parts.map(({ attach }) => attach).filter((attach) => attach !== undefined);
  let open = 1;
  for (let index = 1; index < parts.length; index++) {
    const { from, key } = tree[index % tree.length]!;
    holders[from % open]!(`${key}`, parts[index]!.value);
    if (parts[index]!.attach !== undefined) open++;
  }
  for (const { from, to, key } of extra) {
    holders[from % holders.length]!(key, parts[to % parts.length]!.value);
  }
  return parts.map(({ value }) => value);
}

function graphs(largest: number): Arbitrary<object[]> {
  return fc.tuple(
    containers,
    fc.array(recipes, { maxLength: largest }),
    fc.array(edges, { minLength: 1, maxLength: largest }),
    fc.array(edges, { maxLength: 4 }),
  ).map(([root, rest, tree, extra]) => build([root, ...rest], tree, extra));
}

/** A value of any kind. */
export const values: Arbitrary<unknown> = fc.oneof(
  { weight: 2, arbitrary: primitives },
  { weight: 3, arbitrary: recipes.map((make) => make([]).value) },
  { weight: 5, arbitrary: graphs(8).map(([root]) => root) },
  { weight: 1, arbitrary: graphs(30).map(([root]) => root) },
);

/** Arguments of one call, which share objects and buffers with one another. */
export const argumentLists: Arbitrary<unknown[]> = fc.tuple(
  graphs(8),
  fc.array(fc.oneof(fc.nat(8), primitives.map((value) => ({ value }))), { maxLength: 5 }),
).map(([parts, choices]) =>
  choices.map((choice) => typeof choice === "number" ? parts[choice % parts.length] : choice.value)
);
