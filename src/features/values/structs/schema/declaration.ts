/** Declared types of a task's arguments and result: structs instead of arbitrary values. */
import { InvalidArgumentError } from "../../../../errors.ts";
import type { Fields, Struct } from "./field-types.ts";
import { describeValue } from "../../../../codec/support/describe.ts";
import { isStruct } from "./shape-of.ts";

/** An argument that the task reads in place, as made by {@link view}. */
export interface ViewArgument<S extends Struct<Fields>> {
  /** Distinguishes a view from a struct. */
  readonly kind: "view";
  /** The struct that the argument has to match. */
  readonly of: S;
}

/** An element of a task's `args`: a struct, a view of one, or undefined for any other value. */
export type ArgumentSchema = Struct<Fields> | ViewArgument<Struct<Fields>> | undefined;

/**
 * Declares an argument that the task gets as a view instead of an object. The view's getters read the data
 * in shared memory. It can be read until the task first returns or awaits (BorrowExpiredError afterwards); an
 * async function gets a view of a copy, which does not expire.
 *
 * @example
 * ```ts
 * export const norm = task({ args: [view(Point)], f: (point) => Math.hypot(point.x, point.y) });
 * ```
 */
export function view<S extends Struct<Fields>>(schema: S): ViewArgument<S> {
  if (!isStruct(schema)) {
    throw new InvalidArgumentError(`view() needs a struct(), got ${describeValue(schema)}.`);
  }
  return Object.freeze({ kind: "view", of: schema });
}

/** Maximum number of positions that a record can encode. */
const MAX_DECLARED = 255;

/** Throws InvalidArgumentError unless `args`, if given, is a list of schemas and `returns`, if given, a struct. */
export function checkDeclaration(args: unknown, returns: unknown): void {
  if (args !== undefined && (!Array.isArray(args) || args.length > MAX_DECLARED)) {
    throw new InvalidArgumentError(
      `\`args\` of a task must be a list of up to ${MAX_DECLARED} schemas, got ${
        describeValue(args)
      }.`,
    );
  }
  if (returns !== undefined && !isStruct(returns)) {
    throw new InvalidArgumentError(
      `\`returns\` of a task must be a struct(), got ${describeValue(returns)}.`,
    );
  }
  for (const [position, schema] of (args as unknown[] | undefined ?? []).entries()) {
    if (isArgumentSchema(schema)) continue;
    throw new InvalidArgumentError(
      `args[${position}] of a task must be a struct(), view(struct) or undefined, got ${
        describeValue(schema)
      }.`,
    );
  }
}

function isArgumentSchema(schema: unknown): schema is ArgumentSchema {
  if (schema === undefined || isStruct(schema)) return true;
  const { kind, of } = Object(schema) as Partial<ViewArgument<Struct<Fields>>>;
  return kind === "view" && isStruct(of);
}
