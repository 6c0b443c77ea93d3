/** `pool.scope`: structured concurrency. docs/scopes.md has the rules. */
import { Promise } from "../../../builtins.ts";
import { describeValue } from "../../../codec/support/describe.ts";
import { InvalidArgumentError, ScopeCancelledError } from "../../../errors.ts";
import { withStackAbove } from "../../../realm/caller-stack.ts";
import type { CallProxy } from "../../../api/calls/call-proxy.ts";
import type { SyncProxy } from "../sync/sync-proxy.ts";
import { PRINTED } from "../../../runtimes/printed.ts";
import { checkScopeOptions } from "./scope-options.ts";
import { isHandled } from "./handled.ts";
import { join } from "./joiners.ts";
import { type Member, ScopeCore, type ScopeTarget } from "./scope-core.ts";
import { createScopedCalls, createScopedSync } from "./scoped-calls.ts";
import { createScopedMapping } from "./scoped-map.ts";

type Mapped = ReturnType<typeof createScopedMapping>;
type Body = (scope: Scope) => unknown;
type Open = (...args: unknown[]) => unknown;

/** The handle of a scope. Its methods are fields, so that they survive destructuring. */
class Scope {
  readonly call: CallProxy;
  readonly scope: Open;
  readonly #core: ScopeCore;
  #isClosed = false;
  #madeMapping: Mapped | undefined;
  #madeSync: SyncProxy | undefined;

  constructor(core: ScopeCore) {
    this.#core = core;
    this.call = createScopedCalls(core);
    this.scope = createOpenScope(core.target, core);
  }

  // Made when they are used: most scopes need none of them.
  get sync(): SyncProxy {
    return this.#madeSync ??= createScopedSync(this.#core);
  }

  get map(): Mapped["map"] {
    return this.#mapped.map;
  }

  get forEach(): Mapped["forEach"] {
    return this.#mapped.forEach;
  }

  get reduce(): Mapped["reduce"] {
    return this.#mapped.reduce;
  }

  get #mapped(): Mapped {
    return this.#madeMapping ??= createScopedMapping(this.#core);
  }

  get signal(): AbortSignal {
    return this.#core.signal;
  }

  readonly all = (items: unknown): Promise<unknown> => this.#join("all", items);
  readonly race = (items: unknown): Promise<unknown> => this.#join("race", items);
  readonly any = (items: unknown): Promise<unknown> => this.#join("any", items);
  readonly settled = (items: unknown): Promise<unknown> => this.#join("settled", items);

  readonly cancel = (reason: unknown = new ScopeCancelledError()): void => {
    this.#core.cancel(reason);
  };

  readonly close = (): Promise<void> => {
    this.#isClosed = true;
    return closed(this.#core);
  };

  readonly [Symbol.asyncDispose] = async (): Promise<void> => {
    if (this.#isClosed) await this.#core.leave();
    else await this.close();
  };

  [PRINTED](): string {
    if (!(#core in this)) return "Scope";
    const { isCancelled, isLeaving } = this.#core;
    return `Scope (${isCancelled ? "cancelled" : isLeaving ? "closed" : "open"})`;
  }

  #join(name: "all" | "any" | "race" | "settled", items: unknown): Promise<unknown> {
    try {
      return join(this.#core, name, items, (body) => startWithin(this.#core, {}, body));
    } catch (error) {
      return Promise.reject(withStackAbove(error, this[name]));
    }
  }
}

/** Leaves a scope and throws its error. */
async function closed(core: ScopeCore): Promise<void> {
  const outcome = await core.leave();
  if (outcome !== undefined) throw outcome.error;
}

/** Runs a function in a scope, and leaves it. */
async function run(core: ScopeCore, body: Body): Promise<unknown> {
  let result: unknown;
  let failure: { readonly error: unknown } | undefined;
  try {
    result = await body(new Scope(core));
  } catch (error) {
    failure = { error };
    core.onBodyFailed(error);
  }
  failure = await core.leave() ?? failure;
  if (failure !== undefined) throw failure.error;
  return result;
}

/** A scope within another, as a member of that. */
class InnerScope implements Member {
  isJoined = false;
  promise!: Promise<unknown>;
  readonly #outer: ScopeCore;
  readonly #inner: ScopeCore;
  #isCancelled = false;
  /** The program has left it open, and the outer scope closes it. */
  #isClosedByOuter = false;

  constructor(outer: ScopeCore, inner: ScopeCore) {
    this.#outer = outer;
    this.#inner = inner;
    outer.add(this);
    if (outer.isCancelled) this.cancel(outer.refusal);
  }

  get wasCancelled(): boolean {
    return this.#isCancelled && !this.#inner.hasErrors;
  }

  get isHandled(): boolean {
    return isHandled(this.promise);
  }

  /** Runs the function of the scope. */
  start(body: Body): this {
    const outer = this.#outer;
    this.promise = run(this.#inner, body);
    this.promise.then(() => outer.remove(this), (error) => {
      outer.onRejected(this, error, () => outer.remove(this));
    });
    outer.give(this.promise, this);
    return this;
  }

  /** The program closes the scope. */
  leaveOpen(): void {
    this.#inner.onLeft = (outcome) => {
      if (this.#isClosedByOuter && outcome !== undefined) this.#outer.onFailed(outcome.error);
      this.#outer.remove(this);
    };
  }

  cancel(reason: unknown): void {
    this.#isCancelled = true;
    this.#inner.cancel(reason);
  }

  leave(): void {
    if (this.#inner.onLeft === undefined || this.#inner.isLeaving) return;
    this.#isClosedByOuter = true;
    void this.#inner.leave();
  }
}

/** Runs a function in a scope within another. */
function startWithin(outer: ScopeCore, options: unknown, body: Body): Member {
  const checked = checkScopeOptions(options, true, outer.options);
  const inner = new ScopeCore(outer.target, checked, outer);
  return new InnerScope(outer, inner).start(body);
}

function openScope(
  target: ScopeTarget,
  outer: ScopeCore | undefined,
  options: unknown,
  body: unknown,
): unknown {
  if (body !== undefined && typeof body !== "function") {
    throw new InvalidArgumentError(`scope() runs a function, got ${describeValue(body)}.`);
  }
  if (outer?.isLeaving === true) throw outer.refusal;
  if (outer !== undefined && body !== undefined) {
    return startWithin(outer, options, body as Body).promise;
  }
  const isFunction = body !== undefined;
  const core = new ScopeCore(target, checkScopeOptions(options, isFunction, outer?.options), outer);
  if (body !== undefined) return run(core, body as Body);
  if (outer !== undefined) new InnerScope(outer, core).leaveOpen();
  return new Scope(core);
}

/** `pool.scope`, or `scope.scope` of `outer`. */
export function createOpenScope(target: ScopeTarget, outer?: ScopeCore): Open {
  const open = (...args: unknown[]): unknown => {
    const [options = {}, body] = typeof args[0] === "function" ? [{}, args[0]] : args;
    try {
      return openScope(target, outer, options, body);
    } catch (error) {
      if (body === undefined) throw withStackAbove(error, open);
      return Promise.reject(withStackAbove(error, open));
    }
  };
  return open;
}
