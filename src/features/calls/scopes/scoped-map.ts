/** `scope.map`, `forEach` and `reduce`: those of the pool, whose runs belong to the scope. */
import { Promise } from "../../../builtins.ts";
import { ignoreRejections } from "../../../host/dispatch/pending-arguments.ts";
import type { MapOptions, Mapping } from "../map/host/map.ts";
import type { MapRun, RunFollower } from "../map/host/map-run.ts";
import type { ScopeCore } from "./scope-core.ts";
import { ScopedCall } from "./scoped-call.ts";

/** All calls of one `map`, `forEach` or `reduce`. That of `map` is a member of its scope while it runs. */
class ScopedRun extends ScopedCall implements RunFollower {
  readonly owner: ScopeCore;
  readonly #isMap: boolean;
  /** `reduce` has several, one after another. */
  #run: MapRun | undefined;
  #cancelledBy: { readonly reason: unknown } | undefined;

  constructor(core: ScopeCore, isMap: boolean) {
    super(core);
    this.owner = core;
    this.#isMap = isMap;
  }

  checkOpen(): void {
    if (this.owner.isClosed) throw this.owner.refusal;
  }

  onStart(run: MapRun): void {
    this.#run = run;
    if (this.#isMap) this.start(() => run.results.returned.then(() => this.#read()));
    this.#abortRun();
  }

  /** Results of `map` are awaited or read, as nothing runs before: their error is the program's. */
  override get isHandled(): boolean {
    return this.#isMap || super.isHandled;
  }

  override cancel(reason: unknown): void {
    this.#cancelledBy ??= { reason };
    this.#abortRun();
  }

  /** Ends results that are read one by one, as nobody may read them any more. */
  override leave(): void {
    if (this.#run?.isReadWhole === false) void this.#run.results.return();
  }

  /** Those that await all results have them before the scope is left. */
  #read(): Promise<void> {
    return new Promise((resolve) => this.owner.target.runtime.macrotask(resolve));
  }

  #abortRun(): void {
    if (this.#cancelledBy === undefined || this.#run === undefined) return;
    if (this.#run.abort(this.#cancelledBy.reason)) this.wasCancelled = true;
  }
}

/** The three functions, made when one of them is first read. */
export function createScopedMapping(core: ScopeCore): Pick<Mapping, "map" | "forEach" | "reduce"> {
  const { mapping, runtime } = core.target;
  const whole = <Name extends "forEach" | "reduce">(name: Name): Mapping[Name] => {
    const own = (call: unknown, items: unknown, options?: MapOptions): Promise<unknown> => {
      if (!core.isClosed) {
        return new ScopedRun(core, false)
          .start((run) => mapping[name](call, items, options, run as ScopedRun)) as Promise<
            unknown
          >;
      }
      ignoreRejections(Array.isArray(items) ? items : [items], runtime.isPromise);
      const refused = Promise.reject(core.refusal);
      if (core.isCancelled) refused.catch(() => {}); // leaving the scope tells why
      return refused;
    };
    return own as Mapping[Name];
  };
  return {
    map: (call, items, options) => {
      const run = new ScopedRun(core, true);
      const results = mapping.map(call, items, options, run);
      core.own(results, run);
      return results;
    },
    forEach: whole("forEach"),
    reduce: whole("reduce"),
  };
}
