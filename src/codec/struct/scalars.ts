/**
 * The fields of one machine word: what fits them, how they are stored and loaded. Each twice, as a
 * function for the interpreter and as source text for the compiler; `tests/unit/struct.test.ts` runs
 * every test through both.
 *
 * The source text may use `at`-like expressions in bytes, the views of a Memory by name, and `HELPERS`.
 */
import type { Memory } from "../../memory/views.ts";
import { typedArrayBuffer, typedArrayOffset } from "../intrinsics.ts";
import { normalizeNumber } from "../numbers.ts";

export type ScalarKind =
  | "f64"
  | "f32"
  | "i8"
  | "u8"
  | "i16"
  | "u16"
  | "i32"
  | "u32"
  | "i64"
  | "u64"
  | "bool";

export type ScalarValue = number | bigint | boolean;

export interface Scalar {
  /** Size and alignment. */
  readonly bytes: 1 | 2 | 4 | 8;
  readonly expected: string;
  /** The typed array with the same elements, by the name its intrinsic getter tells. */
  readonly arrayName: string | undefined;
  fits(value: unknown): boolean;
  /** `value` fits. */
  store(memory: Memory, at: number, value: ScalarValue): void;
  load(memory: Memory, at: number): ScalarValue;
  /** The same three as source. */
  readonly source: {
    /** An expression: the local `v` does not fit. */
    misfits(v: string): string;
    /** Statements. */
    store(at: string, v: string): string;
    /** An expression. */
    load(at: string): string;
  };
}

// An f32 passes through these, because a Memory has no view of floats. No code of a user's runs in
// between, and the hardware forwards the store to the load.
const float = new Float32Array(1);
const floatBits = new Int32Array(float.buffer);
const { asIntN, asUintN } = BigInt;

/** What the source text of scalars refers to, apart from the views. */
export const HELPERS: Readonly<Record<string, unknown>> = {
  normalize: normalizeNumber,
  float,
  floatBits,
  asIntN,
  asUintN,
};

function integer(
  name: string,
  bytes: 1 | 2 | 4,
  least: number,
  greatest: number,
  arrayName: string,
  access: Pick<Scalar, "store" | "load">,
  source: Scalar["source"],
): Scalar {
  return {
    bytes,
    arrayName,
    expected: `a whole number from ${least} to ${greatest} (${name})`,
    fits: (value) =>
      Number.isInteger(value) && value as number >= least && value as number <= greatest,
    ...access,
    source,
  };
}

/** Source of a check by a conversion that changes no number of the kind. */
function unless(conversion: (v: string) => string): (v: string) => string {
  return (v) => `typeof ${v} !== "number" || (${conversion(v)}) !== ${v}`;
}

const isNumber = (value: unknown): boolean => typeof value === "number";
const misfitsNumber = (v: string): string => `typeof ${v} !== "number"`;
const storeByte = (memory: Memory, at: number, value: ScalarValue): void => {
  memory.u8[at] = value as number;
};
const storeByteSource = (at: string, v: string): string => `u8[${at}] = ${v};`;
// Two bytes and not a u16 view: such a view would have to be made anew for every memory.
const storeTwoBytes = (memory: Memory, at: number, value: ScalarValue): void => {
  memory.u8[at] = value as number;
  memory.u8[at + 1] = (value as number) >> 8;
};
const storeTwoBytesSource = (at: string, v: string): string =>
  `u8[${at}] = ${v}; u8[${at} + 1] = ${v} >> 8;`;
const storeWord = (memory: Memory, at: number, value: ScalarValue): void => {
  memory.i32[at >> 2] = value as number;
};
const storeWordSource = (at: string, v: string): string => `i32[(${at}) >> 2] = ${v};`;
const storeBigInt = (memory: Memory, at: number, value: ScalarValue): void => {
  memory.i64[at >> 3] = value as bigint;
};
const storeBigIntSource = (at: string, v: string): string => `i64[(${at}) >> 3] = ${v};`;
const loadTwoBytes = (memory: Memory, at: number): number =>
  memory.u8[at]! | (memory.u8[at + 1]! << 8);

export const SCALARS: Readonly<Record<ScalarKind, Scalar>> = {
  f64: {
    bytes: 8,
    arrayName: "Float64Array",
    expected: "a number (f64)",
    fits: isNumber,
    store: (memory, at, value) => {
      memory.f64[at >> 3] = value as number;
    },
    load: (memory, at) => normalizeNumber(memory.f64[at >> 3]!),
    source: {
      misfits: misfitsNumber,
      store: (at, v) => `f64[(${at}) >> 3] = ${v};`,
      load: (at) => `normalize(f64[(${at}) >> 3])`,
    },
  },
  f32: {
    bytes: 4,
    arrayName: "Float32Array",
    expected: "a number (f32)",
    fits: isNumber,
    store: (memory, at, value) => {
      float[0] = value as number;
      memory.i32[at >> 2] = floatBits[0]!;
    },
    load: (memory, at) => {
      floatBits[0] = memory.i32[at >> 2]!;
      return float[0]!;
    },
    source: {
      misfits: misfitsNumber,
      store: (at, v) => `float[0] = ${v}; i32[(${at}) >> 2] = floatBits[0];`,
      load: (at) => `(floatBits[0] = i32[(${at}) >> 2], float[0])`,
    },
  },
  i8: integer("i8", 1, -128, 127, "Int8Array", {
    store: storeByte,
    load: (memory, at) => memory.u8[at]! << 24 >> 24,
  }, {
    misfits: unless((v) => `${v} << 24 >> 24`),
    store: storeByteSource,
    load: (at) => `u8[${at}] << 24 >> 24`,
  }),
  u8: integer("u8", 1, 0, 255, "Uint8Array", {
    store: storeByte,
    load: (memory, at) => memory.u8[at]!,
  }, {
    misfits: unless((v) => `${v} & 255`),
    store: storeByteSource,
    load: (at) => `u8[${at}]`,
  }),
  i16: integer("i16", 2, -32768, 32767, "Int16Array", {
    store: storeTwoBytes,
    load: (memory, at) => loadTwoBytes(memory, at) << 16 >> 16,
  }, {
    misfits: unless((v) => `${v} << 16 >> 16`),
    store: storeTwoBytesSource,
    load: (at) => `(u8[${at}] | u8[${at} + 1] << 8) << 16 >> 16`,
  }),
  u16: integer("u16", 2, 0, 65535, "Uint16Array", {
    store: storeTwoBytes,
    load: loadTwoBytes,
  }, {
    misfits: unless((v) => `${v} & 65535`),
    store: storeTwoBytesSource,
    load: (at) => `u8[${at}] | u8[${at} + 1] << 8`,
  }),
  i32: integer("i32", 4, -(2 ** 31), 2 ** 31 - 1, "Int32Array", {
    store: storeWord,
    load: (memory, at) => memory.i32[at >> 2]!,
  }, {
    misfits: unless((v) => `${v} | 0`),
    store: storeWordSource,
    load: (at) => `i32[(${at}) >> 2]`,
  }),
  u32: integer("u32", 4, 0, 2 ** 32 - 1, "Uint32Array", {
    store: storeWord,
    load: (memory, at) => memory.i32[at >> 2]! >>> 0,
  }, {
    misfits: unless((v) => `${v} >>> 0`),
    store: storeWordSource,
    load: (at) => `i32[(${at}) >> 2] >>> 0`,
  }),
  i64: {
    bytes: 8,
    arrayName: "BigInt64Array",
    expected: "a bigint from -2⁶³ to 2⁶³ - 1 (i64)",
    fits: (value) => typeof value === "bigint" && asIntN(64, value) === value,
    store: storeBigInt,
    load: (memory, at) => memory.i64[at >> 3]!,
    source: {
      misfits: (v) => `typeof ${v} !== "bigint" || asIntN(64, ${v}) !== ${v}`,
      store: storeBigIntSource,
      load: (at) => `i64[(${at}) >> 3]`,
    },
  },
  u64: {
    bytes: 8,
    arrayName: "BigUint64Array",
    expected: "a bigint from 0 to 2⁶⁴ - 1 (u64)",
    fits: (value) => typeof value === "bigint" && asUintN(64, value) === value,
    store: storeBigInt,
    load: (memory, at) => asUintN(64, memory.i64[at >> 3]!),
    source: {
      misfits: (v) => `typeof ${v} !== "bigint" || asUintN(64, ${v}) !== ${v}`,
      store: storeBigIntSource,
      load: (at) => `asUintN(64, i64[(${at}) >> 3])`,
    },
  },
  bool: {
    bytes: 1,
    arrayName: undefined,
    expected: "a boolean (bool)",
    fits: (value) => typeof value === "boolean",
    store: (memory, at, value) => {
      memory.u8[at] = value ? 1 : 0;
    },
    load: (memory, at) => memory.u8[at] !== 0,
    source: {
      misfits: (v) => `typeof ${v} !== "boolean"`,
      store: (at, v) => `u8[${at}] = ${v} ? 1 : 0;`,
      load: (at) => `u8[${at}] !== 0`,
    },
  },
};

/**
 * Stores `count` elements, which is all, of the typed array that matches `kind`. `values` is read by
 * its slots alone, whatever properties it has been given.
 */
export function storeTypedArray(
  kind: ScalarKind,
  memory: Memory,
  at: number,
  values: ArrayLike<number> & ArrayLike<bigint>,
  count: number,
): void {
  // As many as were counted: shared memory may grow while it is copied.
  const buffer = typedArrayBuffer.call(values);
  const offset = typedArrayOffset.call(values);
  switch (kind) {
    case "f64":
      memory.f64.set(new Float64Array(buffer, offset, count), at >> 3);
      break;
    case "f32":
      memory.u8.set(new Uint8Array(buffer, offset, 4 * count), at);
      break;
    case "i8":
    case "u8":
      memory.u8.set(new Uint8Array(buffer, offset, count), at);
      break;
    case "i32":
    case "u32":
      memory.i32.set(new Int32Array(buffer, offset, count), at >> 2);
      break;
    case "i64":
    case "u64":
      memory.i64.set(new BigInt64Array(buffer, offset, count), at >> 3);
      break;
    default:
      for (let index = 0; index < count; index++) {
        storeTwoBytes(memory, at + 2 * index, values[index]!);
      }
  }
}
