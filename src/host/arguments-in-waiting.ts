/**
 * The arguments of a call some of which are promises: those are awaited, the others are encoded as they
 * are when the call is made.
 */
import type { DeclaredValues } from "../codec/struct/signature.ts";
import { ARGUMENTS, type Held, type Holder } from "../endpoint/hold.ts";

type IsPromise = (value: unknown) => value is Promise<unknown>;

export class ArgumentsInWaiting {
  /** The values of the promises, in order. */
  readonly #settled: Promise<unknown[]>;
  readonly #positions: readonly number[];
  readonly #others: Held;
  readonly #holder: Holder;
  readonly #declared: DeclaredValues | undefined;

  /** Throws what encoding the other arguments throws. */
  constructor(
    args: readonly unknown[],
    isPromise: IsPromise,
    holder: Holder,
    declared: DeclaredValues | undefined,
  ) {
    this.#holder = holder;
    this.#declared = declared;
    const isPending = args.map((value) => isPromise(value));
    this.#positions = [...isPending.keys()].filter((position) => isPending[position]);
    this.#others = holder.hold(args, ARGUMENTS, declared, isPending);
    this.#settled = Promise.all(this.#positions.map((position) => args[position]));
  }

  /**
   * Calls back once: with all arguments when the promises have been fulfilled, or with why there are
   * none. Not at all if `isWanted` says no by then.
   */
  whenKnown(
    isWanted: () => boolean,
    onHeld: (held: Held) => void,
    onFailed: (reason: unknown) => void,
  ): void {
    const fail = (reason: unknown): void => {
      if (isWanted()) onFailed(reason);
    };
    this.#settled.then((settled) => {
      if (!isWanted()) return;
      try {
        onHeld(this.#holder.complete(this.#others, settled, this.#positions, this.#declared));
      } catch (error) {
        fail(error);
      }
    }, fail);
  }
}

/** Whether one of the arguments has to be awaited. */
export function hasPromise(
  args: readonly unknown[],
  isPromise: (value: unknown) => boolean,
): boolean {
  if (args.length === 1 && typeof args[0] !== "object") return false;
  for (let index = 0; index < args.length; index++) {
    const value = args[index];
    if (typeof value === "object" && value !== null && isPromise(value)) return true;
  }
  return false;
}
