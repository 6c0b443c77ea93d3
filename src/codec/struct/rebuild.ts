/**
 * Schemas from a copy of their fields: a worker sends the declarations of its tasks as plain data, and the host makes
 * schemas of them.
 */
import { InvalidArgumentError } from "../../errors.ts";
import type { ArgumentSchema } from "./declaration.ts";
import type { Field, Fields, Struct } from "./field-types.ts";
import {
  array,
  bool,
  bytes,
  f32,
  f64,
  i16,
  i32,
  i64,
  i8,
  optional,
  struct,
  u16,
  u32,
  u64,
  u8,
  utf8,
} from "./schema.ts";

/** A schema after structured clone, without its hidden shape. */
interface Copy {
  readonly kind: string;
  readonly max?: number;
  readonly of?: Copy;
  readonly fields?: Readonly<Record<string, Copy>>;
}

const SCALARS: Readonly<Record<string, Field>> = {
  f64,
  f32,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  bool,
};

/** The schema of an argument from its copy. Undefined: the argument is not declared. */
export function rebuildArgument(copy: unknown): ArgumentSchema {
  if (copy === undefined) return undefined;
  const { kind, of } = copy as Copy;
  return kind === "view"
    ? { ...copy as object, of: rebuildStruct(of) } as ArgumentSchema
    : rebuildStruct(copy);
}

/** The struct from its copy. */
export function rebuildStruct(copy: unknown): Struct<Fields> {
  const { fields } = copy as Copy;
  const entries = Object.entries(fields!).map(([key, field]) =>
    [key, field.kind === "optional" ? optional(rebuild(field.of!)) : rebuild(field)] as const
  );
  return struct(Object.fromEntries(entries) as Fields);
}

function rebuild(copy: Copy): Field {
  const { kind, max, of } = copy;
  if (Object.hasOwn(SCALARS, kind)) return SCALARS[kind]!;
  switch (kind) {
    case "utf8":
      return utf8(max);
    case "bytes":
      return bytes(max);
    case "array":
      return array(rebuild(of!), max);
    case "struct":
      return rebuildStruct(copy);
    default:
      throw new InvalidArgumentError(`The worker declares a field of the unknown kind "${kind}".`);
  }
}
