/** What the functions of a pool's calls are made of, for features that make other functions of them. */
import { WeakMap } from "../../builtins.ts";
import type { GivenCall } from "../options/feature.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";
import type { CallSink } from "../options/resolved-options.ts";

/** A function of `pool.call`. */
export interface CallParts {
  /** The name of its task. */
  readonly name: string;
  /** The handle of its pool. */
  readonly owner: object;
  readonly spec: PoolSpec;
  readonly entry: CallSink;
  /** Its options. */
  readonly given: GivenCall;
  /** The index of its task. Undefined: it is not known yet; an error: there is none. */
  readonly find: () => number | Error | undefined;
  /** The function with further options. */
  readonly make: (more: GivenCall) => (...args: unknown[]) => unknown;
}

export const callParts: WeakMap<object, CallParts> = new WeakMap();

/** A function of `pool.sync`, with further options and this time limit if its own are not shorter. */
type MakeBlocking = (more: GivenCall, timeoutMs: number) => (...args: unknown[]) => unknown;

/** How scopes make the calls of the functions of `pool.sync`. */
export const blocking: WeakMap<object, MakeBlocking> = new WeakMap();
