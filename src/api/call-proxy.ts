/** `pool.call`: the tasks of a pool as functions, by name, which says so when it is asked for one that there is not. */
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

/** What promises, inspectors and test runners ask of any object. */
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

/** A table without calls. `names`: of those that it will have. */
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

/** What the functions of a pool hold: its parts, and the pool, which is open while any of them can be called. */
export interface CallTarget {
  readonly dispatcher: Dispatcher;
  readonly cancellation: Cancellation;
  readonly pool: object;
}

/** Own properties are the tasks; anything else that is asked for is a mistake, told at once. */
export function createCallProxy(
  { options, sources, tasks }: PoolSpec,
  target: CallTarget,
): CallProxy {
  const table = createTable(sources.map(({ name }) => name)) as CallProxy;
  for (const [task, { name }] of sources.entries()) {
    const own = { ...tasks[task]!.settings, hardTimeoutMs: options.hardTimeoutMs };
    const at = (asked: GivenSettings): Call => {
      // A strict order knows no priorities.
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

/** A call of a task with a signal: its promise has a method that aborts it. */
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
    // Its slot may have another call by now.
    if (call !== undefined && call.reject === own) cancellation.abort(call, reason);
  };
  return Object.assign(promise, { reject: abort });
}
