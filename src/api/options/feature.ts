/** How a feature adds options of pools and calls. An option that nobody has added is refused like one that does not exist. */
import type { InvalidArgumentError } from "../../errors.ts";
import type { GivenSettings } from "../../host/calls/call-settings.ts";
import type { DeclaredValues } from "../../codec/declared.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import type { CallOptions, TaskOptions } from "./call-option-types.ts";
import type { PoolOptions } from "./pool-options.ts";
import type {
  Check,
  Given,
  OptionsRuntime,
  ResolvedOptions,
  Resolving,
} from "./resolved-options.ts";

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
  /** What takes it, if only one of them does. */
  readonly only?: "with" | "task";
  /** What the values of a chain of `with` are together. Undefined: the later one counts. */
  readonly merge?: (earlier: never, later: never) => unknown;
  /** What it does to the arguments of each call. */
  readonly changeArguments?: ChangeArguments;
}

export type NewCallOptions = { readonly [Name in keyof (CallOptions & TaskOptions)]?: CallOption };

/** What a feature adds to the options. */
export interface OptionFeature {
  readonly name: string;
  /** Options of `createPool`. They are checked if they are given, after those of the kernel and of earlier features. */
  readonly options?: { readonly [Name in keyof PoolOptions]?: Check };
  /** What they stand for if they are not given. */
  readonly defaults?: Partial<ResolvedOptions>;
  /** The same where that has to be computed. */
  readonly whenAbsent?: {
    [Name in keyof PoolOptions]?: (to: Resolving, runtime: OptionsRuntime, given: Given) => void;
  };
  readonly callOptions?: NewCallOptions;
  /**
   * The options of a pool that is to run on the host, in place of the given ones. `isForced`: the environment says so, so that what cannot be
   * had is left out; otherwise it is refused.
   */
  readonly onHost?: (given: Given, isForced: boolean, runtime: OptionsRuntime) => Given;
}
