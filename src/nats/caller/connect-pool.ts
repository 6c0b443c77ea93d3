/** `connectPool`: the client for tasks on other machines. */
import { Error, Map, Promise as BuiltinPromise } from "../../builtins.ts";
import type { NatsConnection } from "@nats-io/transport-node";
import {
  type CallOptions,
  checkCallOptions,
  type GivenCall,
  mergeOptions,
  NO_OPTIONS,
} from "../../api/options/call-options.ts";
import { createTable } from "../../api/calls/call-proxy.ts";
import type { Calls } from "../../api/calls/call-types.ts";
import { checkShutdown } from "../../api/options/options.ts";
import type { ShutdownOptions } from "../../api/options/pool-options.ts";
import type { AnyFunction } from "../../api/tasks/task-types.ts";
import { createSettings, PLAIN } from "../../host/calls/call-settings.ts";
import { InvalidArgumentError, NoMachinesError, PoolClosedError } from "../../errors.ts";
import { withStackAbove } from "../../realm/caller-stack.ts";
import { currentRuntime } from "../../runtimes/current.ts";
import { guardSockets } from "../../runtimes/node-api/services.ts";
import { Caller } from "./caller.ts";
import { watchPermissions } from "../permissions.ts";
import type { RemotePoolStatistics } from "../statistics.ts";
import {
  type ConnectOptions,
  openConnection,
  resolveConnect,
  type ResolvedConnect,
  waitFor,
} from "../options.ts";
import { DurableCalls, type EnqueueCalls, type ResultOptions } from "../durable/durable-calls.ts";
import { type DurableStore, openStore } from "../durable/store.ts";
import type { RemoteResult } from "./remote-result.ts";

const DRAIN_MS = 5000;

/** The tasks of a module that machines serve. Create it with `connectPool`. */
export interface RemotePool<Module extends object> extends AsyncDisposable, Disposable {
  /**
   * The tasks as local async functions. A call runs on one of the machines. Arguments are copied when the call is made.
   * `with` takes the options of a local pool except `affinity` and `transfer`.
   */
  readonly call: Calls<Module>;
  /**
   * Durable calls: `await pool.enqueue.f([1, 2], { id: "order-7" })`. NATS keeps the call until a machine has run it, also if
   * machines and callers restart: it runs at least once, and its result is recorded once. Needs machines with
   * `durable: true`, a server with JetStream, and the packages `@nats-io/jetstream` and `@nats-io/kv`. Such calls are not
   * sent in chunks: PayloadTooLargeError above `max_payload`.
   */
  readonly enqueue: EnqueueCalls<Module>;
  /**
   * Waits for the result of a durable call; rejects with the error of its last run. Results are kept for
   * `durable.resultMs`: for an id that is not known the promise waits.
   */
  result(id: string, options?: ResultOptions): Promise<unknown>;
  /** Resolves when NATS is connected. Rejects with NoMachinesError if it cannot be reached. */
  readonly ready: Promise<void>;
  /** The counters of the pool as of now. */
  stats(): RemotePoolStatistics;
  /**
   * New calls reject with PoolClosedError at once; calls in flight get up to `timeoutMs` (default 5000) to finish, then
   * reject with it. Resolves when the connection is closed. The machines continue.
   */
  shutdown(options?: number | ShutdownOptions): Promise<void>;
}

/** What {@link connectPool} returns: connects, for the tasks of a module. */
export type ConnectModule = <
  Module extends object = Readonly<Record<string, AnyFunction>>,
>() => RemotePool<Module>;

/**
 * Connects to machines that serve tasks with `serve`. Returns at once; calls wait for the connection. The connection keeps
 * the process running until `shutdown`. Throws InvalidArgumentError.
 *
 * @example
 * ```ts
 * import { connectPool } from "heddle/nats";
 *
 * const pool = connectPool({ subject: "images" })<typeof import("./tasks.ts")>();
 * console.log(await pool.call.add(1, 2));
 * await pool.shutdown();
 * ```
 */
export function connectPool(options: ConnectOptions): ConnectModule {
  try {
    const resolved = resolveConnect(options);
    return <Module extends object>() => new NatsPool(resolved) as unknown as RemotePool<Module>;
  } catch (error) {
    throw withStackAbove(error, connectPool);
  }
}

type Call = (...args: unknown[]) => RemoteResult;
type CallWith = Call & { with(options: CallOptions): CallWith };

class NatsPool {
  readonly call: Readonly<Record<string, CallWith>>;
  readonly enqueue: DurableCalls["enqueue"];
  readonly ready: Promise<void>;
  readonly result: DurableCalls["result"];
  readonly #caller: Caller;
  readonly #durable: DurableCalls;
  #store: Promise<DurableStore> | undefined;
  #connection: NatsConnection | undefined;
  /** What is opened from now on must be closed. */
  #isStopped = false;
  #shutdown: Promise<void> | undefined;

  constructor(options: ResolvedConnect) {
    const caller = this.#caller = new Caller(currentRuntime, options);
    const calls = new Map<string, CallWith>();
    this.call = createTable((name) => {
      let call = calls.get(name);
      if (call === undefined) calls.set(name, call = createCall(caller, name));
      return call;
    });
    const durable = this.#durable = new DurableCalls(
      caller.codec,
      currentRuntime,
      () => this.#openStore(options),
      options.machineWaitMs,
    );
    this.enqueue = durable.enqueue;
    this.result = (id, given) => durable.result(id, given);
    this.ready = this.#connect(options);
    this.ready.catch(() => {}); // calls reject with the same error
  }

  async #connect(options: ResolvedConnect): Promise<void> {
    try {
      const { inboxPrefix } = options;
      // So that the answers of JetStream need no further permission.
      const connection = this.#connection = await openConnection(guardSockets, {
        ...options,
        connection: { inboxPrefix, ...options.connection },
      });
      if (this.#isStopped) {
        await connection.close(); // `#stop` has not waited for it
        throw new PoolClosedError();
      }
      this.#caller.open(connection);
      void watchPermissions(connection, options, (error) => this.#caller.close(error));
      void connection.closed().then((error) => {
        const reason = error instanceof Error ? `: ${error.message.replace(/\.$/, "")}` : "";
        const closed = this.#shutdown !== undefined
          ? new PoolClosedError()
          : new NoMachinesError(`The connection to NATS was closed${reason}.`);
        this.#caller.close(closed);
        void this.#durable.close(closed);
      });
    } catch (error) {
      this.#caller.close(error);
      throw error;
    }
  }

  /** Opens the store of durable calls once; a failure is not kept. */
  async #openStore({ subject, durable }: ResolvedConnect): Promise<DurableStore> {
    if (this.#shutdown !== undefined) throw new PoolClosedError();
    await this.ready;
    this.#store ??= openStore(this.#connection!, subject, durable);
    this.#store.catch(() => this.#store = undefined);
    return await this.#store;
  }

  readonly stats = (): RemotePoolStatistics => this.#caller.stats();

  readonly shutdown = (options: number | ShutdownOptions = DRAIN_MS): Promise<void> => {
    try {
      const { timeoutMs } = checkShutdown(options, DRAIN_MS);
      return this.#shutdown ??= this.#stop(timeoutMs);
    } catch (error) {
      return BuiltinPromise.reject(error);
    }
  };

  async #stop(timeoutMs: number): Promise<void> {
    const opened = waitFor(
      currentRuntime,
      timeoutMs,
      (resolve) => void this.ready.then(resolve, resolve),
    );
    await this.#caller.drain(timeoutMs);
    await opened;
    this.#isStopped = true;
    const told = this.#durable.close(new PoolClosedError());
    await waitFor(currentRuntime, timeoutMs, (resolve) => void told.then(resolve));
    await this.#connection?.drain().catch(() => {}); // it may be closed already
  }

  readonly [Symbol.dispose] = (): void => void this.shutdown(0);

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.shutdown();
}

function createCall(caller: Caller, name: string, given: GivenCall = NO_OPTIONS): CallWith {
  const settings = given === NO_OPTIONS ? PLAIN : createSettings(given);
  const call: Call = (...args) => caller.call(name, settings, args);
  return Object.assign(call, {
    with: (options: CallOptions) =>
      createCall(caller, name, mergeOptions(given, checkRemoteOptions(options))),
  });
}

/** Checks the options of `with`. Throws InvalidArgumentError. */
function checkRemoteOptions(options: CallOptions): GivenCall {
  const given = checkCallOptions(options);
  for (const key of ["transfer", "affinity"] as const) {
    if (Object.hasOwn(options, key) && options[key] !== undefined) {
      const reason = key === "transfer"
        ? "arguments are copied to another machine"
        : "workers belong to their machine";
      throw new InvalidArgumentError(`A call over NATS has no option "${key}": ${reason}.`);
    }
  }
  return given;
}
