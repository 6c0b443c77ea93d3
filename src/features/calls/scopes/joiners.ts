/** Waiting for several calls of a scope, and cancelling those that are no longer needed. */
import { Promise } from "../../../builtins.ts";
import { InvalidArgumentError, ScopeCancelledError } from "../../../errors.ts";
import { describeValue } from "../../../codec/support/describe.ts";
import { ignoreRejections } from "../../../host/dispatch/pending-arguments.ts";
import type { Member, ScopeCore } from "./scope-core.ts";
import { isHandled } from "./handled.ts";
import { becauseOf } from "./scope-core.ts";

type Name = "all" | "any" | "race" | "settled";

const WAIT: Readonly<Record<Name, (promises: readonly Promise<unknown>[]) => Promise<unknown>>> = {
  all: (promises) => Promise.all(promises),
  any: (promises) => Promise.any(promises),
  race: (promises) => Promise.race(promises),
  settled: (promises) => Promise.allSettled(promises),
};

/** Calls a function of a joiner in a scope of its own. */
type StartInner = (body: (scope: unknown) => unknown) => Member;

/** The joined calls, as a member of their scope. Only their promise is waited for: the calls are members too. */
class JoinedCalls implements Member {
  isJoined = false;
  wasCancelled = false;
  readonly promise: Promise<unknown>;
  readonly #members: readonly Member[];

  /** `given`: what the program has of the members. */
  constructor(
    core: ScopeCore,
    name: Name,
    members: readonly Member[],
    given: readonly Promise<unknown>[],
  ) {
    this.#members = members;
    for (const member of members) member.isJoined = true;
    this.promise = WAIT[name](given);
    core.add(this);
    this.promise.then(() => {
      if (name === "any" || name === "race") this.#cancelRest(notNeeded(name));
      core.remove(this);
    }, (error) => {
      this.#cancelRest(name === "all" ? becauseOf(error) : notNeeded(name));
      core.onRejected(this, error, () => core.remove(this));
    });
    core.give(this.promise, this);
  }

  get isHandled(): boolean {
    return isHandled(this.promise);
  }

  cancel(reason: unknown): void {
    this.wasCancelled = true;
    this.#cancelRest(reason);
  }

  leave(): void {}

  /** Members that are over have nothing to cancel. */
  #cancelRest(reason: unknown): void {
    for (const member of this.#members) member.cancel(reason);
  }
}

function notNeeded(name: Name): ScopeCancelledError {
  return new ScopeCancelledError(`The call was cancelled: ${name}() has its result.`);
}

/** Joins calls and functions. Throws InvalidArgumentError, also for calls that the scope has not made. */
export function join(
  core: ScopeCore,
  name: Name,
  items: unknown,
  startInner: StartInner,
): Promise<unknown> {
  // The program gets the error of the joiner in place of theirs, as from `Promise.all`.
  const ignore = (refused: readonly unknown[]): void =>
    ignoreRejections(refused, core.target.runtime.isPromise);
  if (!Array.isArray(items)) {
    ignore([items]);
    throw new InvalidArgumentError(
      `${name}() takes an array of calls or functions, got ${describeValue(items)}.`,
    );
  }
  if (name === "race" && items.length === 0) {
    throw new InvalidArgumentError("race() needs at least one call or function, got none.");
  }
  const found = items.map((item: unknown) => {
    const member = typeof item === "function" ? undefined : core.memberOf(item);
    if (member !== undefined || typeof item === "function") return member;
    ignore(items);
    throw new InvalidArgumentError(
      `${name}() takes promises of this scope's calls, or functions that make calls, ` +
        `(scope) => scope.call.f(); got ${describeValue(item)}.`,
    );
  });
  const members = found.map((member, index) => member ?? startInner(items[index]));
  const given = members.map(({ promise }, index) => found[index] ? items[index] : promise);
  return new JoinedCalls(core, name, members, given).promise;
}
