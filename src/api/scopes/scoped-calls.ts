/** `scope.call`: the functions of `pool.call`, whose calls belong to the scope. */
import { AbortSignal, Map, Proxy } from "../../builtins.ts";
import { mappable } from "../calls/mappable.ts";
import type { CallProxy } from "../calls/call-proxy.ts";
import type { CallOptions } from "../options/call-options.ts";
import { atCaller } from "../../realm/caller-stack.ts";
import type { ScopeCore } from "./scope-core.ts";
import { ScopedCall } from "./scoped-call.ts";

type CallWith = CallProxy[string];

export function createScopedCalls(core: ScopeCore): CallProxy {
  const { calls } = core.target;
  const made = new Map<string | symbol, CallWith>();
  const get = (_target: object, name: string | symbol): CallWith | undefined => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const call = calls[name as string]; // throws for a name that no task has
    if (call === undefined) return undefined;
    const own = scoped(core, call);
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
  }) as CallProxy;
}

function scoped(core: ScopeCore, call: CallWith): CallWith {
  const { make, bind } = mappable.get(call)!;
  const own = (...args: unknown[]): unknown => {
    if (!core.isClosed) {
      return new ScopedCall(core).start((run) => make({ run })(...args));
    }
    const refused = make({ signal: AbortSignal.abort(core.refusal) })(...args);
    // Leaving the scope tells why it was cancelled.
    if (core.isCancelled) (refused as Partial<Promise<unknown>>).catch?.(() => {});
    return refused;
  };
  mappable.set(own, { owner: core, bind, make });
  return Object.assign(own, {
    with: atCaller((options: CallOptions) => scoped(core, call.with(options))),
  });
}
