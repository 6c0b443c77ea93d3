/** `host`: the functions of the host that a task may call (option `host` of pools). */
import { Promise, Proxy } from "../../../../builtins.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { taskRealm, type TaskRequests } from "../../../../realm/worker-realm.ts";
import type { AnyFunction } from "../../../../api/tasks/task-types.ts";

/** A function of the host as a task calls it. */
type HostCall<F> = F extends (...args: infer Args) => infer Result
  ? (...args: Args) => Promise<Awaited<Result>>
  : never;
type HostSyncCall<F> = F extends (...args: infer Args) => infer Result
  ? (...args: Args) => Awaited<Result>
  : never;

/** The functions among `Functions`, an object or a module, as tasks call them. */
export interface HostFunctions<Functions> {
  /** The functions as async functions. They reject with what the function throws, or UnknownFunctionError. */
  readonly call: {
    readonly [Name in keyof Functions as Functions[Name] extends AnyFunction ? Name : never]:
      HostCall<Functions[Name]>;
  };
  /**
   * The functions, each of which blocks the worker until the host has run it, an async one to its end. They throw
   * DeadlockError if the host waits for this call itself.
   */
  readonly sync: {
    readonly [Name in keyof Functions as Functions[Name] extends AnyFunction ? Name : never]:
      HostSyncCall<Functions[Name]>;
  };
}

/** Any function by any name. */
export type AnyHostFunctions = Readonly<Record<string, (...args: unknown[]) => unknown>>;

/** `host`. */
export interface Host extends HostFunctions<AnyHostFunctions> {
  /** The same object with the types of these functions: `host.typed<typeof functions>()`. */
  typed<Functions extends object>(): HostFunctions<Functions>;
}

/** A table of functions that are made by name. */
export function tableOf<F extends AnyFunction>(
  make: (name: string) => F,
): Readonly<Record<string, F>> {
  const made = Object.create(null) as Record<string, F>;
  const get = (_target: object, name: string | symbol): F | undefined =>
    typeof name === "symbol" || name === "then" ? undefined : made[name] ??= make(name);
  return new Proxy(made, { get }) as Readonly<Record<string, F>>;
}

const OUTSIDE = "can be used in tasks only, while they run in a worker of heddle.";

/** The way to the host. Throws InvalidArgumentError outside workers. `name`: of what needs it. */
export function requestsOf(name: string): TaskRequests {
  const requests = taskRealm()?.requests;
  if (requests === undefined) throw new InvalidArgumentError(`${name} ${OUTSIDE}`);
  return requests;
}

/** The same for a call, which rejects then. */
export function request(
  name: string,
  make: (requests: TaskRequests) => Promise<unknown>,
): Promise<unknown> {
  try {
    return make(requestsOf(name));
  } catch (error) {
    return Promise.reject(error);
  }
}

let calls: Host["call"] | undefined;
let syncCalls: Host["sync"] | undefined;

/**
 * The functions that the option `host` of the pool gives to its workers: `await host.call.log(text)`, and `host.sync.log(text)`,
 * which blocks the worker. For tasks; in other threads the functions fail with InvalidArgumentError.
 *
 * Arguments and results are cloned as those of calls, and errors keep their class.
 *
 * @example
 * ```ts
 * import { host } from "heddle/task";
 * import type { functions } from "./main.ts";
 *
 * const { call } = host.typed<typeof functions>();
 * export async function price(id: string) {
 *   return await call.lookUp(id);
 * }
 * ```
 */
export const host: Host = /* @__PURE__ */ Object.freeze({
  get call() {
    return calls ??= tableOf((name) => (...args: unknown[]) =>
      request("host.call", (requests) => requests.callHost(name, args))
    );
  },
  get sync() {
    return syncCalls ??= tableOf((name) => (...args: unknown[]) =>
      requestsOf("host.sync").callHostSync(name, args)
    );
  },
  typed<Functions extends object>(): HostFunctions<Functions> {
    return host as unknown as HostFunctions<Functions>;
  },
});
