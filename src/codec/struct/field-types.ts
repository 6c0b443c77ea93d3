/**
 * The types of declared shapes: for values that are written, values that are read, and views in place.
 * Types only.
 */

declare const TYPES: unique symbol;

/**
 * The type of a field. `Value` is the type it reads back as, `Input` the type it accepts, `View` the type of
 * a view of it. Created by {@link struct} and the other schema functions; immutable.
 */
export interface Field<Value = unknown, Input = unknown, View = unknown> {
  readonly kind: string;
  /** Type only. */
  readonly [TYPES]: { readonly value: Value; readonly input: Input; readonly view: View };
}

/** The array that holds elements of a kind without conversion. */
export interface TypedArrays<Bytes extends ArrayBufferLike = ArrayBuffer> {
  readonly f64: Float64Array<Bytes>;
  readonly f32: Float32Array<Bytes>;
  readonly i8: Int8Array<Bytes>;
  readonly u8: Uint8Array<Bytes>;
  readonly i16: Int16Array<Bytes>;
  readonly u16: Uint16Array<Bytes>;
  readonly i32: Int32Array<Bytes>;
  readonly u32: Uint32Array<Bytes>;
  readonly i64: BigInt64Array<Bytes>;
  readonly u64: BigUint64Array<Bytes>;
}

export type NumericKind = keyof TypedArrays;

type Numeric<Kind extends NumericKind> = Kind extends "i64" | "u64" ? bigint : number;

/** A number or bigint of fixed width. */
export interface NumericField<Kind extends NumericKind>
  extends Field<Numeric<Kind>, Numeric<Kind>, Numeric<Kind>> {
  readonly kind: Kind;
}

export interface BoolField extends Field<boolean, boolean, boolean> {
  readonly kind: "bool";
}

export interface Utf8Field extends Field<string, string, string> {
  readonly kind: "utf8";
  /** UTF-8 bytes at most, or undefined: unbounded. */
  readonly max: number | undefined;
}

export interface BytesField
  extends Field<Uint8Array<ArrayBuffer>, Uint8Array, NumericArrayView<"u8">> {
  readonly kind: "bytes";
  /** Bytes at most, or undefined: unbounded. */
  readonly max: number | undefined;
}

export interface ArrayField<Element extends Field>
  extends Field<Infer<Element>[], ArrayInput<Element>, ArrayViewOf<Element>> {
  readonly kind: "array";
  readonly of: Element;
  /** Elements at most, or undefined: unbounded. */
  readonly max: number | undefined;
}

/** A field of a struct that may be absent. Not itself a {@link Field}: an array has no absent elements. */
export interface OptionalField<Of extends Field> {
  readonly kind: "optional";
  readonly of: Of;
}

/** The parameter of {@link struct}. */
export type Fields = Readonly<Record<string, Field | OptionalField<Field>>>;

/** A declared shape. May itself be a field of another. */
export interface Struct<F extends Fields>
  extends Field<StructValue<F>, StructInput<F>, StructView<F>> {
  readonly kind: "struct";
  readonly fields: Readonly<F>;
}

type Types<F> = F extends Field ? F[typeof TYPES] : never;

/** The type a value of this field reads back as. */
export type Infer<F extends Field> = Types<F>["value"];

/** The type a value given for this field may have: arrays may be readonly, or typed arrays. */
export type InferInput<F extends Field> = Types<F>["input"];

/** The type of a view of this field. */
export type InferView<F extends Field> = Types<F>["view"];

/** Makes an editor show the properties instead of the name of a helper. */
type Shown<T> = T extends unknown ? { [Key in keyof T]: T[Key] } : never;

type OptionalKeys<F extends Fields> = {
  [Key in keyof F]: F[Key] extends OptionalField<Field> ? Key : never;
}[keyof F];

type Inner<F> = F extends OptionalField<infer Of> ? Of : F;

type StructValue<F extends Fields> = Shown<
  & { -readonly [Key in Exclude<keyof F, OptionalKeys<F>>]: Types<F[Key]>["value"] }
  & { -readonly [Key in OptionalKeys<F>]?: Types<Inner<F[Key]>>["value"] }
>;

type StructInput<F extends Fields> = Shown<
  & { readonly [Key in Exclude<keyof F, OptionalKeys<F>>]: Types<F[Key]>["input"] }
  & { readonly [Key in OptionalKeys<F>]?: Types<Inner<F[Key]>>["input"] | undefined }
>;

type ArrayInput<Element extends Field> =
  | readonly InferInput<Element>[]
  | (Element extends NumericField<infer Kind> ? TypedArrays<ArrayBufferLike>[Kind] : never);

type ArrayViewOf<Element extends Field> = Element extends NumericField<infer Kind>
  ? NumericArrayView<Kind>
  : ArrayView<InferView<Element>, Infer<Element>>;

/** Methods of every view of a struct. A field of the same name hides the method, but not the function. */
export interface StructViewMethods<Value> {
  /** A plain copy, the same as without a view. Also: `viewToObject(view)`. */
  toObject(): Value;
  /** Ends this view and all views of the same record. Also: `revokeView(view)`. */
  revoke(): void;
}

/**
 * Reads the fields directly from the memory on each access. Absent optional fields are `undefined`.
 * Every access after `revoke` throws a BorrowExpiredError.
 */
export type StructView<F extends Fields> =
  & {
    readonly [Key in keyof F]: F[Key] extends OptionalField<infer Of>
      ? Types<Of>["view"] | undefined
      : Types<F[Key]>["view"];
  }
  & Omit<StructViewMethods<StructValue<F>>, keyof F>;

/** An array in the memory. */
export interface ArrayView<Element, Value> extends Iterable<Element> {
  readonly length: number;
  /** The element at `index`, from the end if negative; undefined if there is none. */
  at(index: number): Element | undefined;
  /** A plain copy, the same as without a view. */
  toArray(): Value[];
}

/** An array of numbers in the memory. */
export interface NumericArrayView<Kind extends NumericKind>
  extends ArrayView<Numeric<Kind>, Numeric<Kind>> {
  /** A fresh typed array with the same elements. */
  copy(): TypedArrays[Kind];
}
