/**
 * The fields of one machine word: how they are checked, stored and loaded, as source text for `compile.ts`. It may use
 * `at`-like expressions in bytes, the views of a Memory by name, and `HELPERS`.
 */
import { normalizeNumber } from "../../../../codec/kinds/numbers.ts";
import type { ScalarKind } from "./scalar-bytes.ts";

export interface Scalar {
  readonly expected: string;
  /** The name of the typed array with the same elements, as its intrinsic getter returns it. */
  readonly arrayName: string | undefined;
  readonly source: ScalarSource;
}

interface ScalarSource {
  /** An expression that is true if the local `v` does not fit. */
  misfits(v: string): string;
  /** Statements that store `v`, which fits. */
  store(at: string, v: string): string;
  /** An expression. */
  load(at: string): string;
}

// An f32 passes through these, because a Memory has no view of floats. No user code runs in between, and
// the hardware forwards the store to the load.
const float = new Float32Array(1);

/** Values that the source text refers to, in addition to the views. */
export const HELPERS: Readonly<Record<string, unknown>> = {
  normalize: normalizeNumber,
  float,
  floatBits: new Int32Array(float.buffer),
  asIntN: BigInt.asIntN,
  asUintN: BigInt.asUintN,
};

/** Stores integers, and loads them without their sign, by their size in bytes. */
const WORDS: Readonly<Record<1 | 2 | 4, Pick<ScalarSource, "store" | "load">>> = {
  1: {
    store: (at, v) => `u8[${at}] = ${v};`,
    load: (at) => `u8[${at}]`,
  },
  // Two bytes instead of a u16 view, which would have to be created for every memory.
  2: {
    store: (at, v) => `u8[${at}] = ${v}; u8[${at} + 1] = ${v} >> 8;`,
    load: (at) => `(u8[${at}] | u8[${at} + 1] << 8)`,
  },
  4: {
    store: (at, v) => `i32[(${at}) >> 2] = ${v};`,
    load: (at) => `i32[(${at}) >> 2]`,
  },
};

/** `convert` turns any number into one of the kind, and returns numbers of the kind unchanged. */
function integer(isSigned: boolean, bytes: 1 | 2 | 4, convert: string): Scalar {
  const bits = 8 * bytes;
  const least = isSigned ? -(2 ** (bits - 1)) : 0;
  const greatest = 2 ** (isSigned ? bits - 1 : bits) - 1;
  const { store, load } = WORDS[bytes];
  return {
    arrayName: `${isSigned ? "Int" : "Uint"}${bits}Array`,
    expected: `a whole number from ${least} to ${greatest} (${isSigned ? "i" : "u"}${bits})`,
    source: {
      misfits: (v) => `typeof ${v} !== "number" || (${v} ${convert}) !== ${v}`,
      store,
      load: (at) => `${load(at)} ${convert}`,
    },
  };
}

/** A bigint of 64 bits; `narrow` is the function of BigInt that returns values of the kind unchanged. */
function bigInteger(arrayName: string, expected: string, narrow: "asIntN" | "asUintN"): Scalar {
  return {
    arrayName,
    expected,
    source: {
      misfits: (v) => `typeof ${v} !== "bigint" || ${narrow}(64, ${v}) !== ${v}`,
      store: (at, v) => `i64[(${at}) >> 3] = ${v};`,
      load: (at) => narrow === "asIntN" ? `i64[(${at}) >> 3]` : `asUintN(64, i64[(${at}) >> 3])`,
    },
  };
}

const misfitsNumber = (v: string): string => `typeof ${v} !== "number"`;

/** Getters: made when a struct is compiled. */
export const SCALARS: Readonly<Record<ScalarKind, Scalar>> = {
  f64: {
    arrayName: "Float64Array",
    expected: "a number (f64)",
    source: {
      misfits: misfitsNumber,
      store: (at, v) => `f64[(${at}) >> 3] = ${v};`,
      load: (at) => `normalize(f64[(${at}) >> 3])`,
    },
  },
  f32: {
    arrayName: "Float32Array",
    expected: "a number (f32)",
    source: {
      misfits: misfitsNumber,
      store: (at, v) => `float[0] = ${v}; i32[(${at}) >> 2] = floatBits[0];`,
      load: (at) => `(floatBits[0] = i32[(${at}) >> 2], float[0])`,
    },
  },
  get i8() {
    return integer(true, 1, "<< 24 >> 24");
  },
  get u8() {
    return integer(false, 1, "& 255");
  },
  get i16() {
    return integer(true, 2, "<< 16 >> 16");
  },
  get u16() {
    return integer(false, 2, "& 65535");
  },
  get i32() {
    return integer(true, 4, "| 0");
  },
  get u32() {
    return integer(false, 4, ">>> 0");
  },
  get i64() {
    return bigInteger("BigInt64Array", "a bigint from -2⁶³ to 2⁶³ - 1 (i64)", "asIntN");
  },
  get u64() {
    return bigInteger("BigUint64Array", "a bigint from 0 to 2⁶⁴ - 1 (u64)", "asUintN");
  },
  bool: {
    arrayName: undefined,
    expected: "a boolean (bool)",
    source: {
      misfits: (v) => `typeof ${v} !== "boolean"`,
      store: (at, v) => `u8[${at}] = ${v} ? 1 : 0;`,
      load: (at) => `u8[${at}] !== 0`,
    },
  },
};
