/**
 * The fields of one machine word: how they are checked, stored and loaded. Each exists twice, as a function
 * for the interpreter and as source text for the compiler; `tests/unit/struct.test.ts` runs every test
 * through both.
 *
 * The source text may use `at`-like expressions in bytes, the views of a Memory by name, and `HELPERS`.
 */
import type { Memory } from "../../memory/views.ts";
import type { NumericKind } from "./field-types.ts";
import { normalizeNumber } from "../kinds/numbers.ts";

export type ScalarKind = NumericKind | "bool";

type ScalarValue = number | bigint | boolean;

export interface Scalar {
  /** Size and alignment. */
  readonly bytes: 1 | 2 | 4 | 8;
  readonly expected: string;
  /** The name of the typed array with the same elements, as its intrinsic getter returns it. */
  readonly arrayName: string | undefined;
  fits(value: unknown): boolean;
  /** Stores `value`, which must fit. */
  store(memory: Memory, at: number, value: ScalarValue): void;
  load(memory: Memory, at: number): ScalarValue;
  /** The same three as source. */
  readonly source: {
    /** An expression that is true if the local `v` does not fit. */
    misfits(v: string): string;
    /** Statements. */
    store(at: string, v: string): string;
    /** An expression. */
    load(at: string): string;
  };
}

// An f32 passes through these, because a Memory has no view of floats. No user code runs in between, and
// the hardware forwards the store to the load.
const float = new Float32Array(1);
const floatBits = new Int32Array(float.buffer);
const { asIntN, asUintN } = BigInt;

/** Values that the source text of scalars refers to, in addition to the views. */
export const HELPERS: Readonly<Record<string, unknown>> = {
  normalize: normalizeNumber,
  float,
  floatBits,
  asIntN,
  asUintN,
};

/** Stores integers, and loads them without their sign, by their size in bytes. */
const WORDS = {
  1: {
    store: (memory: Memory, at: number, value: ScalarValue): void => {
      memory.u8[at] = value as number;
    },
    storeSource: (at: string, v: string): string => `u8[${at}] = ${v};`,
    loadSource: (at: string): string => `u8[${at}]`,
  },
  // Two bytes instead of a u16 view, which would have to be created for every memory.
  2: {
    store: (memory: Memory, at: number, value: ScalarValue): void => {
      memory.u8[at] = value as number;
      memory.u8[at + 1] = (value as number) >> 8;
    },
    storeSource: (at: string, v: string): string => `u8[${at}] = ${v}; u8[${at} + 1] = ${v} >> 8;`,
    loadSource: (at: string): string => `(u8[${at}] | u8[${at} + 1] << 8)`,
  },
  4: {
    store: (memory: Memory, at: number, value: ScalarValue): void => {
      memory.i32[at >> 2] = value as number;
    },
    storeSource: (at: string, v: string): string => `i32[(${at}) >> 2] = ${v};`,
    loadSource: (at: string): string => `i32[(${at}) >> 2]`,
  },
} as const;

/** `convert` turns any number into one of the kind, and returns numbers of the kind unchanged. */
function integer(
  isSigned: boolean,
  bytes: 1 | 2 | 4,
  convert: string,
  load: Scalar["load"],
): Scalar {
  const bits = 8 * bytes;
  const least = isSigned ? -(2 ** (bits - 1)) : 0;
  const greatest = 2 ** (isSigned ? bits - 1 : bits) - 1;
  const { store, storeSource, loadSource } = WORDS[bytes];
  return {
    bytes,
    arrayName: `${isSigned ? "Int" : "Uint"}${bits}Array`,
    expected: `a whole number from ${least} to ${greatest} (${isSigned ? "i" : "u"}${bits})`,
    fits: (value) =>
      Number.isInteger(value) && value as number >= least && value as number <= greatest,
    store,
    load,
    source: {
      misfits: (v) => `typeof ${v} !== "number" || (${v} ${convert}) !== ${v}`,
      store: storeSource,
      load: (at) => `${loadSource(at)} ${convert}`,
    },
  };
}

/** A bigint of 64 bits; `narrow` is the function of BigInt that returns values of the kind unchanged. */
function bigInteger(arrayName: string, expected: string, narrow: "asIntN" | "asUintN"): Scalar {
  const convert = BigInt[narrow];
  return {
    bytes: 8,
    arrayName,
    expected,
    fits: (value) => typeof value === "bigint" && convert(64, value) === value,
    store: (memory, at, value) => {
      memory.i64[at >> 3] = value as bigint;
    },
    load: (memory, at) => convert(64, memory.i64[at >> 3]!),
    source: {
      misfits: (v) => `typeof ${v} !== "bigint" || ${narrow}(64, ${v}) !== ${v}`,
      store: (at, v) => `i64[(${at}) >> 3] = ${v};`,
      load: (at) => narrow === "asIntN" ? `i64[(${at}) >> 3]` : `asUintN(64, i64[(${at}) >> 3])`,
    },
  };
}

const isNumber = (value: unknown): boolean => typeof value === "number";
const misfitsNumber = (v: string): string => `typeof ${v} !== "number"`;
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
  i8: integer(true, 1, "<< 24 >> 24", (memory, at) => memory.u8[at]! << 24 >> 24),
  u8: integer(false, 1, "& 255", (memory, at) => memory.u8[at]!),
  i16: integer(true, 2, "<< 16 >> 16", (memory, at) => loadTwoBytes(memory, at) << 16 >> 16),
  u16: integer(false, 2, "& 65535", loadTwoBytes),
  i32: integer(true, 4, "| 0", (memory, at) => memory.i32[at >> 2]!),
  u32: integer(false, 4, ">>> 0", (memory, at) => memory.i32[at >> 2]! >>> 0),
  i64: bigInteger("BigInt64Array", "a bigint from -2⁶³ to 2⁶³ - 1 (i64)", "asIntN"),
  u64: bigInteger("BigUint64Array", "a bigint from 0 to 2⁶⁴ - 1 (u64)", "asUintN"),
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
