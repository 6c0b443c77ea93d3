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
  /** Name of the function or constant that created the field, such as "utf8". */
  readonly kind: string;
  /**
   * Type only.
   *
   * @ignore
   */
  readonly [TYPES]: { readonly value: Value; readonly input: Input; readonly view: View };
}

/** The array that holds elements of a kind without conversion. */
export interface TypedArrays<Bytes extends ArrayBufferLike = ArrayBuffer> {
  /** Holds 64-bit floating-point numbers. */
  readonly f64: Float64Array<Bytes>;
  /** Holds 32-bit floating-point numbers. */
  readonly f32: Float32Array<Bytes>;
  /** Holds 8-bit signed integers. */
  readonly i8: Int8Array<Bytes>;
  /** Holds 8-bit unsigned integers. */
  readonly u8: Uint8Array<Bytes>;
  /** Holds 16-bit signed integers. */
  readonly i16: Int16Array<Bytes>;
  /** Holds 16-bit unsigned integers. */
  readonly u16: Uint16Array<Bytes>;
  /** Holds 32-bit signed integers. */
  readonly i32: Int32Array<Bytes>;
  /** Holds 32-bit unsigned integers. */
  readonly u32: Uint32Array<Bytes>;
  /** Holds 64-bit signed integers, as bigints. */
  readonly i64: BigInt64Array<Bytes>;
  /** Holds 64-bit unsigned integers, as bigints. */
  readonly u64: BigUint64Array<Bytes>;
}

/** Names of the numeric fields. */
export type NumericKind = keyof TypedArrays;

/** The type of a number of this kind. */
type NumericValue<Kind extends NumericKind> = Kind extends "i64" | "u64" ? bigint : number;

/** A number or bigint of fixed width. */
export interface NumericField<Kind extends NumericKind>
  extends Field<NumericValue<Kind>, NumericValue<Kind>, NumericValue<Kind>> {
  /** Width and kind of the number. */
  readonly kind: Kind;
}

/** `true` or `false`, as declared by `bool`. */
export interface BoolField extends Field<boolean, boolean, boolean> {
  /** Distinguishes boolean fields. */
  readonly kind: "bool";
}

/** A string, as declared by `utf8`. */
export interface Utf8Field extends Field<string, string, string> {
  /** Distinguishes string fields. */
  readonly kind: "utf8";
  /** UTF-8 bytes at most, or undefined: unbounded. */
  readonly max: number | undefined;
}

/** A Uint8Array, as declared by `bytes`. */
export interface BytesField
  extends Field<Uint8Array<ArrayBuffer>, Uint8Array, NumericArrayView<"u8">> {
  /** Distinguishes byte fields. */
  readonly kind: "bytes";
  /** Bytes at most, or undefined: unbounded. */
  readonly max: number | undefined;
}

/** An array of elements of one field type, as declared by `array`. */
export interface ArrayField<Element extends Field>
  extends Field<Infer<Element>[], ArrayInput<Element>, ArrayViewOf<Element>> {
  /** Distinguishes array fields. */
  readonly kind: "array";
  /** Field type of the elements. */
  readonly of: Element;
  /** Elements at most, or undefined: unbounded. */
  readonly max: number | undefined;
}

/** A field of a struct that may be absent. Not itself a {@link Field}: an array has no absent elements. */
export interface OptionalField<Of extends Field> {
  /** Distinguishes optional fields. */
  readonly kind: "optional";
  /** Field type of the value, if there is one. */
  readonly of: Of;
}

/** The parameter of {@link struct}. */
export type Fields = Readonly<Record<string, Field | OptionalField<Field>>>;

/** A declared shape. May itself be a field of another. */
export interface Struct<F extends Fields>
  extends Field<StructValue<F>, StructInput<F>, StructView<F>> {
  /** Distinguishes structs. */
  readonly kind: "struct";
  /** The fields by their keys. */
  readonly fields: Readonly<F>;
}

/**
 * The value, input and view types of a field.
 *
 * @ignore
 */
type FieldTypes<F> = F extends Field ? F[typeof TYPES] : never;

/** The type a value of this field reads back as. */
export type Infer<F extends Field> = FieldTypes<F>["value"];

/** The type a value given for this field may have: arrays may be readonly, or typed arrays. */
export type InferInput<F extends Field> = FieldTypes<F>["input"];

/** The type of a view of this field. */
export type InferView<F extends Field> = FieldTypes<F>["view"];

/** Makes an editor show the properties instead of the name of a helper. */
type Simplify<T> = T extends unknown ? { [Key in keyof T]: T[Key] } : never;

/** Keys of the optional fields. */
type OptionalFieldKeys<F extends Fields> = {
  [Key in keyof F]: F[Key] extends OptionalField<Field> ? Key : never;
}[keyof F];

/** The field itself without `optional`. */
type RequiredField<F> = F extends OptionalField<infer Of> ? Of : F;

/** The object that a struct reads back as. */
type StructValue<F extends Fields> = Simplify<
  & { -readonly [Key in Exclude<keyof F, OptionalFieldKeys<F>>]: FieldTypes<F[Key]>["value"] }
  & { -readonly [Key in OptionalFieldKeys<F>]?: FieldTypes<RequiredField<F[Key]>>["value"] }
>;

/** The object that a struct accepts. */
type StructInput<F extends Fields> = Simplify<
  & { readonly [Key in Exclude<keyof F, OptionalFieldKeys<F>>]: FieldTypes<F[Key]>["input"] }
  & {
    readonly [Key in OptionalFieldKeys<F>]?: FieldTypes<RequiredField<F[Key]>>["input"] | undefined;
  }
>;

/** The arrays that an array field accepts: for numbers also the matching typed array. */
type ArrayInput<Element extends Field> =
  | readonly InferInput<Element>[]
  | (Element extends NumericField<infer Kind> ? TypedArrays<ArrayBufferLike>[Kind] : never);

/** The view of an array field. */
type ArrayViewOf<Element extends Field> = Element extends NumericField<infer Kind>
  ? NumericArrayView<Kind>
  : ArrayView<InferView<Element>, Infer<Element>>;

/** Methods of every view of a struct. A field of the same name hides the method, but not the function. */
interface StructViewMethods<Value> {
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
      ? FieldTypes<Of>["view"] | undefined
      : FieldTypes<F[Key]>["view"];
  }
  & Omit<StructViewMethods<StructValue<F>>, keyof F>;

/** An array in the memory. */
export interface ArrayView<Element, Value> extends Iterable<Element> {
  /** Number of elements. */
  readonly length: number;
  /** The element at `index`, from the end if negative; undefined if there is none. */
  at(index: number): Element | undefined;
  /** A plain copy, the same as without a view. */
  toArray(): Value[];
}

/** An array of numbers in the memory. */
export interface NumericArrayView<Kind extends NumericKind>
  extends ArrayView<NumericValue<Kind>, NumericValue<Kind>> {
  /** A fresh typed array with the same elements. */
  copy(): TypedArrays[Kind];
}
