/** Recognizes fields and structs. Tasks without structs load only this part of their code. */
import type { Field, Fields, OptionalField, Struct } from "./field-types.ts";
import type { Shape } from "./shape.ts";

/** From the symbol registry, so that schemas of another copy of this library are recognized too. */
export const SHAPE: unique symbol = Symbol.for("heddle.shape");

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
