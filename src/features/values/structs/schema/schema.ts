/**
 * The vocabulary of declared shapes: `struct({ x: f64, name: utf8(32) })`. Schemas are frozen values
 * that carry their layout; `struct-codec.ts` writes and reads what they declare.
 */
import type {
  ArrayField,
  BoolField,
  BytesField,
  Field,
  Fields,
  NumericField,
  NumericKind,
  OptionalField,
  Struct,
  Utf8Field,
} from "./field-types.ts";
import * as deferred from "../codec/deferred.ts";
import { SCALAR_BYTES } from "../codec/scalar-bytes.ts";
import { SHAPE } from "./shape-of.ts";

type Scalars = { readonly [Kind in NumericKind]: NumericField<Kind> } & {
  readonly bool: BoolField;
};

// By a loop: a program without structs runs no function of this file.
const scalars = {} as Scalars;
for (const [kind, size] of Object.entries(SCALAR_BYTES)) {
  const shape = { __proto__: null, value: { kind, size, align: size, isDeep: false } };
  const field = Object.defineProperty({ kind }, SHAPE, shape as PropertyDescriptor);
  Object.assign(scalars, { [kind]: Object.freeze(field) });
}

/** Any number, exactly: NaN, the infinities and -0 included. */
export const f64: NumericField<"f64"> = scalars.f64;
/** Any number, rounded to single precision. */
export const f32: NumericField<"f32"> = scalars.f32;
/** A whole number from -128 to 127. This and the following integer fields accept -0, which reads back as 0. */
export const i8: NumericField<"i8"> = scalars.i8;
/** A whole number from 0 to 255. */
export const u8: NumericField<"u8"> = scalars.u8;
/** A whole number from -32768 to 32767. */
export const i16: NumericField<"i16"> = scalars.i16;
/** A whole number from 0 to 65535. */
export const u16: NumericField<"u16"> = scalars.u16;
/** A whole number from -2³¹ to 2³¹ - 1. */
export const i32: NumericField<"i32"> = scalars.i32;
/** A whole number from 0 to 2³² - 1. */
export const u32: NumericField<"u32"> = scalars.u32;
/** A bigint from -2⁶³ to 2⁶³ - 1. */
export const i64: NumericField<"i64"> = scalars.i64;
/** A bigint from 0 to 2⁶⁴ - 1. */
export const u64: NumericField<"u64"> = scalars.u64;
/** `true` or `false`. */
export const bool: BoolField = scalars.bool;

/**
 * A string without lone surrogates, which UTF-8 cannot express. With `max` it is stored in the fixed
 * part and takes at most that many UTF-8 bytes.
 */
export function utf8(max?: number): Utf8Field {
  return deferred.createUtf8(max);
}

/** A Uint8Array, copied. With `max` it is stored in the fixed part and has at most that many bytes. */
export function bytes(max?: number): BytesField {
  return deferred.createBytes(max);
}

/**
 * An array of `of`; for numbers the matching typed array is accepted too. Reads back as an array. With
 * `max` it is stored in the fixed part and has at most that many elements.
 */
export function array<Element extends Field>(of: Element, max?: number): ArrayField<Element> {
  return deferred.createArray(of, max);
}

/** For a field of a struct: may be absent or undefined, and is then absent when read. */
export function optional<Of extends Field>(of: Of): OptionalField<Of> {
  return deferred.createOptional(of);
}

/**
 * Declares a shape: the type of an object with exactly these keys. A value with other enumerable keys is
 * refused. Fields may be inherited (such as a getter of a class). Reads back as a plain object.
 *
 * @example
 * ```ts
 * const Point = struct({ x: f64, y: f64 });
 * const Path = struct({ name: utf8(32), points: array(Point), note: optional(utf8()) });
 * type Path = Infer<typeof Path>; // { name: string; points: { x: number; y: number }[]; note?: string }
 * ```
 */
export function struct<F extends Fields>(fields: F): Struct<F> {
  return deferred.createStruct(fields);
}
