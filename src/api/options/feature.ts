/**
 * How a feature adds options of pools and calls. The kernel knows their names and the order in which messages list them
 * (`options.ts`, `call-options.ts`); an option that nobody has added is refused like one that does not exist.
 */
import type { InvalidArgumentError } from "../../errors.ts";
import type { GivenSettings } from "../../host/calls/call-settings.ts";
import type { DeclaredValues } from "../../codec/declared.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import type { CallOptions, TaskOptions } from "./call-option-types.ts";
import type { PoolOptions } from "./pool-options.ts";
import type { Check, Resolving } from "./resolved-options.ts";

/** What the options of calls stand for, with the objects that move. */
export interface GivenCall extends GivenSettings {
  readonly transfer?: readonly unknown[];
}

/** Changes the arguments of a call. Returns an error if they do not fit the option. */
export type ChangeArguments = (
  args: readonly unknown[],
  given: GivenCall,
  declared: DeclaredValues | undefined,
  isPromise: Runtime["isPromise"],
) => readonly unknown[] | InvalidArgumentError;

/** An option of calls: of `with()`, of `task()`, or of both. */
export interface CallOption {
  /** Checks a value that is given, and sets what it stands for. Throws InvalidArgumentError. */
  readonly check: (
    value: unknown,
    to: { -readonly [Key in keyof GivenCall]: GivenCall[Key] },
  ) => void;
  /** What the values of a chain of `with` are together. Undefined: the later one counts. */
  readonly merge?: (earlier: never, later: never) => unknown;
  /** What it does to the arguments of each call. */
  readonly changeArguments?: ChangeArguments;
}

export type CallOptionName = keyof CallOptions | keyof TaskOptions;

interface Variable {
  readonly name: string;
  /** Sets what its text stands for. */
  readonly use: (text: string, to: Resolving) => void;
}

/** What a feature adds to the options. */
export interface OptionFeature {
  readonly name: string;
  /** Options of `createPool`. They are checked if they are given, in the kernel's order. */
  readonly options?: { readonly [Name in keyof PoolOptions]?: Check };
  /** Variables of the environment that stand for options of a pool that are not given. */
  readonly variables?: { readonly [Name in keyof PoolOptions]?: Variable };
  readonly callOptions?: { readonly [Name in CallOptionName]?: CallOption };
}

/** By name: the options that features have added. */
export const poolOptions: { [Name in keyof PoolOptions]?: Check } = Object.create(null);
export const variables: { [Name in keyof PoolOptions]?: Variable } = Object.create(null);
export const callOptions: Record<string, CallOption> = Object.create(null);
