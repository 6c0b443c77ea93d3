/** Recognizes fields and structs, without the code for structs. */
import { InvalidArgumentError } from "../../../../errors.ts";
import { describeValue } from "../../../../codec/support/describe.ts";
import type { Field, Fields, Infer, InferView, OptionalField, Struct } from "./field-types.ts";
import type { Shape } from "./shape.ts";
import type { StructCodec } from "../codec/struct-codec.ts";

/** From the symbol registry, so that schemas of another copy of this library are recognized too. */
export const SHAPE: unique symbol = Symbol.for("heddle.shape");

/**
 * The property of a struct with the function that returns its codec, created on first use. It comes with the schema:
 * nothing else imports the code for structs, so programs that declare none do not load it.
 */
export const CODEC: unique symbol = Symbol.for("heddle.codec");

/** The shape of a field, or undefined for any other value. */
export function shapeOf(field: unknown): Shape | undefined {
  if (typeof field !== "object" || field === null || isOptional(field)) return undefined;
  return (field as { readonly [SHAPE]?: Shape })[SHAPE];
}

export function isOptional(field: unknown): field is OptionalField<Field> {
  return typeof field === "object" && field !== null && SHAPE in field &&
    (field as { readonly kind?: unknown }).kind === "optional";
}

/** Whether `value` is a schema made by {@link struct}. */
export function isStruct(value: unknown): value is Struct<Fields> {
  return shapeOf(value)?.kind === "struct";
}

/** The codec of a schema. Throws InvalidArgumentError if it is not a struct. */
export function codecOf<F extends Field & { readonly kind: "struct" }>(
  schema: F,
): StructCodec<Infer<F>, InferView<F>> {
  if (!isStruct(schema)) {
    throw new InvalidArgumentError(`A struct() is needed, got ${describeValue(schema)}.`);
  }
  const { [CODEC]: codec } = schema as { readonly [CODEC]?: () => unknown };
  return codec!() as StructCodec<Infer<F>, InferView<F>>;
}
