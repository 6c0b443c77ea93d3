/** `scope.call`: the functions of `pool.call`, whose calls belong to the scope. */
import { AbortSignal, Map, Proxy } from "../../../builtins.ts";
import { blocking } from "../../../api/calls/call-parts.ts";
import { mappableOf, setMappable } from "../map/host/mappable.ts";
import type { CallProxy } from "../../../api/calls/call-proxy.ts";
import type { SyncProxy } from "../sync/sync-proxy.ts";
import type { CallOptions } from "../../../api/options/call-options.ts";
import { atCaller } from "../../../realm/caller-stack.ts";
import type { ScopeCore } from "./scope-core.ts";
import { ScopedCall } from "./scoped-call.ts";

type CallWith = CallProxy[string];
type SyncCall = SyncProxy[string];

export function createScopedCalls(core: ScopeCore): CallProxy {
  return scopedTable(core.target.calls, (call) => scoped(core, call));
}

/** `scope.sync`: the functions of `pool.sync`. */
export function createScopedSync(core: ScopeCore): SyncProxy {
  return scopedTable(core.target.sync(), (call) => scopedSync(core, call));
}

/** A table of the same names, whose functions are made when they are read. */
function scopedTable<Call extends object>(
  calls: Readonly<Record<string, Call>>,
  make: (call: Call) => Call,
): Readonly<Record<string, Call>> {
  const made = new Map<string | symbol, Call>();
  const get = (_target: object, name: string | symbol): Call | undefined => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const call = calls[name as string];
    if (call === undefined) return undefined;
    const own = make(call);
    made.set(name, own);
    return own;
  };
  return new Proxy(Object.create(null) as object, {
    get,
    has: (_target, name) => name in calls,
    ownKeys: () => Reflect.ownKeys(calls),
    getOwnPropertyDescriptor: (target, name) =>
      Object.hasOwn(calls, name)
        ? { value: get(target, name), enumerable: true, configurable: true }
        : undefined,
  }) as Readonly<Record<string, Call>>;
}

/** The time left of the scope limits the call. A millisecond more, so that the scope is over when that limit is. */
function scopedSync(core: ScopeCore, call: SyncCall): SyncCall {
  const make = blocking.get(call)!;
  const own = atCaller((...args: unknown[]): unknown => {
    const leftMs = core.checkTime() + 1;
    if (core.isClosed) throw core.refusal;
    const run = new ScopedCall(core);
    return run.block(() => make({ run }, leftMs)(...args));
  });
  return Object.assign(own, {
    with: atCaller((options: CallOptions) => scopedSync(core, call.with(options))),
  });
}

function scoped(core: ScopeCore, call: CallWith): CallWith {
  const { name, make, bind } = mappableOf(call)!;
  const own = (...args: unknown[]): unknown => {
    if (!core.isClosed) {
      return new ScopedCall(core).start((run) => make({ run })(...args));
    }
    const refused = make({ signal: AbortSignal.abort(core.refusal) })(...args);
    // Leaving the scope tells why it was cancelled.
    if (core.isCancelled) (refused as Partial<Promise<unknown>>).catch?.(() => {});
    return refused;
  };
  setMappable(own, { name, owner: core, bind, make });
  return Object.assign(own, {
    with: atCaller((options: CallOptions) => scoped(core, call.with(options))),
  });
}
