/**
 * What a task declares of its arguments and its result: structs in place of whatever comes. Host and
 * worker have the declaration from the same module, so a record says only which of them a value is of.
 */
import { InvalidArgumentError } from "../../errors.ts";
import type { Fields, Struct } from "./field-types.ts";
import { describeValue } from "./mismatch.ts";
import { isStruct } from "./schema.ts";
import { codecOf, type StructCodec } from "./struct-codec.ts";

/** An argument that the task reads in place, as made by {@link view}. */
export interface ViewArgument<S extends Struct<Fields>> {
  readonly kind: "view";
  readonly of: S;
}

/** What `args` of a task may list: a struct, a view of one, or undefined for any other value. */
export type ArgumentSchema = Struct<Fields> | ViewArgument<Struct<Fields>> | undefined;

/**
 * Declares an argument that the task does not get as an object of its own, but as a view whose getters
 * read the caller's copy in shared memory. It can be read until the task first returns or awaits
 * (LoanExpiredError afterwards); an async function gets a view of a copy, which stays.
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

/** One declared value as encoder and decoder use it. */
export interface DeclaredValue {
  readonly codec: StructCodec<unknown, unknown>;
  readonly isView: boolean;
}

/** By position; undefined where any value goes. */
export type DeclaredValues = readonly (DeclaredValue | undefined)[];

export interface Signature {
  readonly args: DeclaredValues | undefined;
  /** One, or undefined if results are not declared. */
  readonly returns: DeclaredValues | undefined;
}

/** Positions that a record can name. */
const MAX_DECLARED = 255;

/** The signature of a task that declares `args` or `returns`. Throws InvalidArgumentError. */
export function signatureOf(args: unknown, returns: unknown): Signature | undefined {
  if (args === undefined && returns === undefined) return undefined;
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
  const list = args as unknown[] | undefined;
  return {
    args: list && Array.from(list, declaredArgument),
    returns: returns === undefined ? undefined : [{ codec: codecOf(returns), isView: false }],
  };
}

/** A signature in words: the same on both sides, or the sides do not understand each other. */
export function describeSignature(signature: Signature | undefined): string {
  const describe = (declared: DeclaredValue | undefined): string => {
    if (declared === undefined) return "any";
    return `${declared.isView ? "view of a " : ""}${declared.codec.describe()}`;
  };
  if (signature === undefined) return "nothing";
  const args = signature.args?.map(describe).join(", ");
  const returns = signature.returns?.map(describe).join("");
  return `args: ${args === undefined ? "any" : `[${args}]`}, returns: ${returns ?? "any"}`;
}

function declaredArgument(schema: unknown, position: number): DeclaredValue | undefined {
  if (schema === undefined) return undefined;
  if (isStruct(schema)) return { codec: codecOf(schema), isView: false };
  const { kind, of } = Object(schema) as Partial<ViewArgument<Struct<Fields>>>;
  if (kind === "view" && isStruct(of)) return { codec: codecOf(of), isView: true };
  throw new InvalidArgumentError(
    `args[${position}] of a task must be a struct(), view(struct) or undefined, got ${
      describeValue(schema)
    }.`,
  );
}
