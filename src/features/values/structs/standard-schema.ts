/** The interface that validators of Standard Schema 1 implement: https://standardschema.dev. Types only, but for one check. */
import { isObject } from "../../../option-checks.ts";

/**
 * A schema of Zod, Valibot, ArkType, or of any other library with the interface of Standard Schema 1. `Input`: what it takes;
 * `Output`: what it makes of that.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The part that is the same in every library. */
  readonly "~standard": {
    /** Version of the interface. */
    readonly version: 1;
    /** Name of the library. */
    readonly vendor: string;
    /** Checks a value. */
    readonly validate: (
      value: unknown,
    ) => StandardResult<Output> | PromiseLike<StandardResult<Output>>;
    /** Type only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The value that a schema has made of a valid one, or what is wrong with it. */
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong with a value, as a validator describes it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** Any schema. */
// deno-lint-ignore no-explicit-any -- neither unknown nor never is above all types of schemas
export type AnySchema = StandardSchema<any, any>;

/** What callers pass for a schema. */
export type SchemaInput<S extends AnySchema> = NonNullable<S["~standard"]["types"]>["input"];
/** What a schema makes of that. */
export type SchemaOutput<S extends AnySchema> = NonNullable<S["~standard"]["types"]>["output"];

/** Schemas of ArkType are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if (!isObject(value) && typeof value !== "function") return false;
  const { "~standard": standard } = value as Partial<StandardSchema>;
  return isObject(standard) && typeof standard.validate === "function";
}
