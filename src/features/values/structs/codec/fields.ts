/** Makes the fields that `schema.ts` declares, with their shapes. */
import { JSON } from "../../../../builtins.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { defineOwn } from "../../../../codec/support/own-property.ts";
import type {
  ArrayField,
  BytesField,
  Field,
  Fields,
  OptionalField,
  Struct,
  Utf8Field,
} from "../schema/field-types.ts";
import { describeValue } from "../../../../codec/support/describe.ts";
import type { DeclaredField, Shape } from "../schema/shape.ts";
import { CODEC, isOptional, SHAPE, shapeOf } from "../schema/shape-of.ts";
import { arrayShape, structShape, textShape } from "../schema/shape.ts";
import { StructCodec } from "./struct-codec.ts";

/** Maximum bytes of a fixed part, and so of any bound. */
const MAX_FIXED_BYTES: number = 2 ** 30;

/**
 * Creates a frozen field with its shape, and that of a struct with its codec, in hidden properties. The rest of its type
 * exists only at compile time.
 */
function makeField<F>(
  shape: Shape,
  properties: object,
  codec?: () => StructCodec<unknown, unknown>,
): F {
  const field = { kind: shape.kind, ...properties };
  defineOwn(field, SHAPE, { value: shape });
  if (codec !== undefined) defineOwn(field, CODEC, { value: codec });
  return Object.freeze(field) as unknown as F;
}

export function createUtf8(max?: number): Utf8Field {
  return makeField(textShape("utf8", checkMax("utf8", max)), { max });
}

export function createBytes(max?: number): BytesField {
  return makeField(textShape("bytes", checkMax("bytes", max)), { max });
}

export function createArray<Element extends Field>(of: Element, max?: number): ArrayField<Element> {
  const element = requireShape(of, "array() needs the type of its elements");
  const shape = arrayShape(element, checkMax("array", max));
  checkSize(shape, "array()");
  return makeField(shape, { of, max });
}

export function createOptional<Of extends Field>(of: Of): OptionalField<Of> {
  return makeField(requireShape(of, "optional() needs the type of a field"), {
    kind: "optional",
    of,
  });
}

export function createStruct<F extends Fields>(fields: F): Struct<F> {
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new InvalidArgumentError(
      `struct() needs an object of field types, got ${describeValue(fields)}.`,
    );
  }
  const symbols = Object.getOwnPropertySymbols(fields);
  if (symbols.length > 0) {
    throw new InvalidArgumentError(`struct() takes no symbols as keys, got ${String(symbols[0])}.`);
  }
  const copy = Object.freeze({ ...fields });
  const declared = Object.entries(copy).map(([key, field]): DeclaredField => {
    const [of, mayMiss] = isOptional(field) ? [field.of, true] : [field, false];
    const shape = requireShape(
      of,
      `struct() needs a field type for the key ${JSON.stringify(key)}`,
    );
    return { key, shape, isOptional: mayMiss };
  });
  const shape = structShape(declared);
  checkSize(shape, "struct()");
  let codec: StructCodec<unknown, unknown> | undefined;
  return makeField(shape, { fields: copy }, () => codec ??= new StructCodec(shape));
}

function requireShape(field: unknown, rule: string): Shape {
  const shape = shapeOf(field);
  if (shape !== undefined) return shape;
  const got = isOptional(field)
    ? "an optional(), which only a struct's own field can be"
    : typeof field === "function"
    ? "a function (is it called, as in utf8()?)"
    : describeValue(field);
  throw new InvalidArgumentError(`${rule} such as f64, utf8() or a struct(), got ${got}.`);
}

function checkMax(name: string, max: number | undefined): number | undefined {
  if (max === undefined) return undefined;
  if (Number.isInteger(max) && max >= 1 && max <= MAX_FIXED_BYTES) return max;
  throw new InvalidArgumentError(
    `${name}() takes a bound from 1 to ${MAX_FIXED_BYTES}, got ${describeValue(max)}.`,
  );
}

function checkSize({ size }: Shape, owner: string): void {
  if (size <= MAX_FIXED_BYTES) return;
  throw new InvalidArgumentError(
    `${owner} would take ${size} bytes in the fixed part, the limit is ${MAX_FIXED_BYTES}: ` +
      "leave out a bound to store that part behind it.",
  );
}
