/** `pool.call`: the tasks of a pool as functions, by name. Access to an unknown name throws UnknownTaskError. */
import { type CallOptions, checkCallOptions } from "./call-options.ts";
import { defineOwn } from "../codec/support/own-property.ts";
import { abortError } from "../lane/abort-reason.ts";
import { UnknownTaskError } from "../errors.ts";
import {
  type CallSettings,
  createSettings,
  type GivenSettings,
  isPlain,
  PLAIN,
} from "../host/cancel/call-settings.ts";
import type { Cancellation } from "../host/cancel/cancellation.ts";
import type { PendingCall, Reject, Resolve } from "../host/in-flight.ts";
import type { Dispatcher } from "../host/dispatch/dispatcher.ts";
import type { PoolSpec } from "./wiring.ts";

type Call = (...args: unknown[]) => Promise<unknown>;

export type CallProxy = Readonly<Record<string, Call>>;

/** Properties that promises, inspectors and test runners read from any object. */
const PROBED: ReadonlySet<string> = new Set([
  "then",
  "toJSON",
  "constructor",
  "inspect",
  "href",
  "protocol",
  "nodeType",
  "$$typeof",
  "asymmetricMatch",
]);

/** Creates a table without calls. `names` are the names of its future calls, for the error. */
function createTable(names: readonly string[]): object {
  return Object.create(
    new Proxy(Object.create(null) as object, {
      get: (_target, key) => {
        if (typeof key === "symbol" || PROBED.has(key)) return undefined;
        throw new UnknownTaskError(key, names);
      },
    }),
  ) as object;
}

/** References of the functions of a pool. A function that is still referenced keeps its pool open. */
export interface CallTarget {
  readonly dispatcher: Dispatcher;
  readonly cancellation: Cancellation;
  readonly pool: object;
}

/** Creates `pool.call`. Its own properties are the tasks; reading any other name throws. */
export function createCallProxy(
  { options, sources, tasks }: PoolSpec,
  target: CallTarget,
): CallProxy {
  const table = createTable(sources.map(({ name }) => name)) as CallProxy;
  for (const [task, { name }] of sources.entries()) {
    const own = { ...tasks[task]!.settings, hardTimeoutMs: options.hardTimeoutMs };
    const at = (asked: GivenSettings): Call => {
      // strictFifo ignores priorities.
      const given = options.balancer === "strictFifo" ? { ...asked, priority: 0 } : asked;
      const settings = createSettings(given);
      if (settings.hasSignal) {
        return (...args) => abortable(target, task, args, settings);
      }
      const used = isPlain(settings) ? PLAIN : settings;
      return (...args) =>
        new Promise((resolve: Resolve, reject: Reject) => {
          target.dispatcher.submit(task, args, resolve, reject, used);
        });
    };
    const call = Object.assign(at(own), {
      with: (asked: CallOptions) => at({ ...own, ...checkCallOptions(asked) }),
    });
    defineOwn(table, name, { value: call, enumerable: true });
  }
  return table;
}

/** Calls a task that gets a signal. The promise has a method `reject` that aborts the call. */
function abortable(
  { dispatcher, cancellation }: CallTarget,
  task: number,
  args: readonly unknown[],
  settings: CallSettings,
): Promise<unknown> {
  let call: PendingCall | undefined;
  let own: Reject | undefined;
  const promise = new Promise((resolve: Resolve, reject: Reject) => {
    own = reject;
    call = dispatcher.submit(task, args, resolve, reject, settings);
  });
  const abort = (reason: unknown = abortError()): void => {
    // The slot may belong to another call by now.
    if (call !== undefined && call.reject === own) cancellation.abort(call, reason);
  };
  return Object.assign(promise, { reject: abort });
}
