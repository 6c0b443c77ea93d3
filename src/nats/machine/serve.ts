/** `serve`: a local pool behind a NATS queue group. */
import { Promise as BuiltinPromise } from "../../builtins.ts";
import type { NatsConnection } from "@nats-io/transport-node";
import { moduleUrlOf } from "../../api/options/module-url.ts";
import { checkShutdown } from "../../api/options/options.ts";
import type { PoolOptions, ShutdownOptions } from "../../api/options/pool-options.ts";
import { createPool } from "../../features/create-pool.ts";
import type { Pool } from "../../api/pool/pool-types.ts";
import type { AnyFunction } from "../../api/tasks/task-types.ts";
import { DurableWorker } from "../durable/durable-worker.ts";
import { openStore } from "../durable/store.ts";
import { CANNOT_OPEN, codedError } from "../durable/store-errors.ts";
import { callerOf } from "../../realm/call-site.ts";
import { withStackAbove } from "../../realm/caller-stack.ts";
import { runningModule } from "../../runtimes/bun/bundles.ts";
import { currentRuntime } from "../../runtimes/current.ts";
import { guardSockets, onTerminate, processName } from "../../runtimes/node-api/services.ts";
import { ownVersion } from "../wire/frames.ts";
import type { LocalCalls } from "./local-calls.ts";
import { Machine } from "./machine.ts";
import { watchPermissions } from "../permissions.ts";
import type { ServerStatistics } from "../statistics.ts";
import {
  allSubject,
  callSubject,
  inboxOf,
  missingPackage,
  openConnection,
  QUEUE_GROUP,
  type ResolvedServe,
  resolveServe,
  type ServeOptions,
  waitFor,
} from "../options.ts";

const DRAIN_MS = 5000;
/** Time for durable calls to return to the queue. */
const RETURN_MS = 2000;
/** Semantic version of the service in discovery: that of the protocol. */
const SERVICE_VERSION = `${ownVersion()}.0.0`;

/** A machine that serves tasks. Create it with `serve`. */
export interface Server extends AsyncDisposable {
  /** The name that callers get in WorkerLostError. */
  readonly name: string;
  /**
   * Resolves when calls can arrive. Rejects with NoMachinesError if no NATS server can be reached, if it refuses the
   * credentials, denies a permission or cannot store durable calls, and as `pool.ready` of a local pool does.
   */
  readonly ready: Promise<void>;
  /** Resolves when the machine has shut down, by `shutdown` or SIGTERM. */
  readonly stopped: Promise<void>;
  /** The counters of the machine and of its pool as of now. */
  stats(): ServerStatistics;
  /**
   * Takes no more calls, gives those in flight up to `timeoutMs` (default 5000), then stops. Callers of those that are
   * left get WorkerLostError. Further calls return the same promise.
   */
  shutdown(options?: number | ShutdownOptions): Promise<void>;
}

/** What {@link serve} returns: serves the module `_Module`, by its URL or by a path relative to the module that called `serve`. */
export type ServeModule = <_Module extends object = Readonly<Record<string, AnyFunction>>>(
  module: URL | string,
) => Server;

/**
 * Serves the functions that a module exports to callers on other machines: starts a local pool and takes calls from NATS.
 * Any number of machines may serve a subject; each call goes to one of them. Throws InvalidArgumentError.
 *
 * @example
 * ```ts
 * import { serve } from "heddle/nats";
 *
 * const server = serve({ servers: "127.0.0.1:4222", subject: "images", pool: { threads: 4 } })<
 *   typeof import("./tasks.ts")
 * >(new URL("./tasks.ts", import.meta.url));
 * await server.ready;
 * ```
 */
export function serve(options: ServeOptions): ServeModule {
  try {
    const resolved = resolveServe(options, processName);
    const caller = callerOf(serve);
    // Also what `worker.setup` and `context.run` are relative to.
    const moduleUrl = caller === undefined ? undefined : runningModule(caller);
    const serveModule = (module: URL | string): Server => {
      try {
        const pool = moduleUrl === undefined
          ? createPool(options.pool)(moduleUrlOf(String(module), undefined, currentRuntime))
          : createPool({ moduleUrl, ...options.pool })(module);
        return new ServedPool(resolved, pool as Pool<object>, options.pool);
      } catch (error) {
        throw withStackAbove(error, serveModule);
      }
    };
    return serveModule;
  } catch (error) {
    throw withStackAbove(error, serve);
  }
}

class ServedPool implements Server {
  readonly name: string;
  readonly ready: Promise<void>;
  readonly stopped: Promise<void>;
  readonly #options: ResolvedServe;
  readonly #pool: Pool<object>;
  readonly #poolOptions: PoolOptions;
  readonly #onStopped: () => void;
  #machine: Machine | undefined;
  #connection: NatsConnection | undefined;
  #opened: Promise<NatsConnection> | undefined;
  /** Take no more calls. */
  #stopTaking: (() => Promise<unknown>)[] = [];
  #stopDurable = (): Promise<void> => BuiltinPromise.resolve();
  #removeSignal: (() => void) | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(options: ResolvedServe, pool: Pool<object>, poolOptions: PoolOptions = {}) {
    this.name = options.name;
    this.#options = options;
    this.#pool = pool;
    this.#poolOptions = poolOptions;
    const { promise, resolve } = BuiltinPromise.withResolvers<void>();
    this.stopped = promise;
    this.#onStopped = resolve;
    if (options.terminates) {
      this.#removeSignal = onTerminate(() => this.shutdown());
    }
    this.ready = this.#start();
    this.ready.catch(() => void this.shutdown(0)); // only those who await it are told
  }

  stats(): ServerStatistics {
    const nothing = { inFlight: 0, completed: 0, failed: 0, refused: 0, averageMs: 0 };
    return { ...(this.#machine?.stats() ?? nothing), pool: this.#pool.stats() };
  }

  readonly shutdown = (options: number | ShutdownOptions = DRAIN_MS): Promise<void> => {
    try {
      const { timeoutMs } = checkShutdown(options, DRAIN_MS);
      return this.#shutdown ??= this.#stop(timeoutMs);
    } catch (error) {
      return BuiltinPromise.reject(error);
    }
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  async #start(): Promise<void> {
    this.#opened = this.#open();
    const [connection] = await BuiltinPromise.all([this.#opened, this.#pool.ready]);
    if (this.#shutdown !== undefined) return;
    // The client reconnects by itself; what it cannot reopen ends this machine.
    void connection.closed().then(() => this.shutdown(0));
    const { subject, inboxPrefix } = this.#options;
    let denied: Error | undefined;
    void watchPermissions(connection, this.#options, (error, operation) => {
      denied ??= error;
      // Whoever calls this machine chooses where it publishes, not what it gets.
      if (operation === "subscription") void this.shutdown(0);
    });
    const calls = this.#pool.call as unknown as LocalCalls;
    const machine = this.#machine = new Machine(currentRuntime, this.#options, connection, calls);
    for (const own of [machine.subject, allSubject(subject)]) {
      connection.subscribe(own, { callback: machine.onMessage });
    }
    await this.#takeCalls(connection, machine);
    if (this.#options.durable !== undefined) await this.#takeDurable(connection, machine);
    connection.publish(inboxOf(inboxPrefix, machine.id)); // may it answer?
    // NATS reports a denial within one round trip; the report was read when the second is over.
    for (let trips = 0; trips < 2; trips++) await connection.flush();
    if (denied !== undefined) throw denied;
  }

  async #open(): Promise<NatsConnection> {
    const connection = this.#connection = await openConnection(guardSockets, this.#options);
    if (this.#shutdown !== undefined) await connection.close(); // `#stop` may not have waited for it
    return connection;
  }

  async #takeCalls(connection: NatsConnection, machine: Machine): Promise<void> {
    const subject = callSubject(this.#options.subject);
    if (!this.#options.discovery) {
      const taken = connection.subscribe(subject, {
        queue: QUEUE_GROUP,
        callback: machine.onCall,
      });
      this.#stopTaking.push(() => taken.drain());
      return;
    }
    const { Svcm } = await import("@nats-io/services").catch((error) => {
      throw missingPackage("@nats-io/services", "discovery: true", error);
    });
    // The package brings a client library of its own, whose types differ.
    const service = await new Svcm(connection as never).add({
      name: this.#options.subject.replaceAll(".", "-"),
      version: SERVICE_VERSION,
      description: "heddle tasks",
      metadata: { machine: this.name, tasks: Object.keys(this.#pool.call).join(" ") },
      statsHandler: () => BuiltinPromise.resolve(this.stats()),
    });
    service.addEndpoint("call", {
      subject,
      queue: QUEUE_GROUP,
      handler: (error, msg) => machine.onCall(error, msg),
    });
    this.#stopTaking.push(() => service.stop());
  }

  async #takeDurable(connection: NatsConnection, machine: Machine): Promise<void> {
    const { subject, durable, maxInFlight } = this.#options;
    const worker = new DurableWorker({
      runtime: currentRuntime,
      codec: machine.codec,
      calls: this.#pool.call as unknown as LocalCalls,
      store: await openStore(connection, subject, durable!).catch((error) => {
        throw codedError(CANNOT_OPEN, error);
      }),
      maxCalls: Math.min(maxInFlight, durable!.maxInFlight ?? this.#threads),
      taskWaitMs: durable!.taskWaitMs,
    });
    this.#stopDurable = () => worker.stop();
  }

  /** Threads that the pool has, or may have. */
  get #threads(): number {
    const { threads, maxThreads, budget } = this.#poolOptions;
    const { workers, budget: shared } = this.#pool.stats();
    const given = maxThreads ?? (typeof threads === "number" ? threads : undefined);
    return given ?? Math.max(1, workers.length, budget === undefined ? 0 : shared.max);
  }

  async #stop(timeoutMs: number): Promise<void> {
    await waitFor(
      currentRuntime,
      timeoutMs,
      (resolve) => void this.#opened!.then(resolve, resolve),
    );
    // What has started must be stopped.
    if (this.#connection !== undefined) await this.ready.catch(() => {});
    const machine = this.#machine;
    try {
      if (machine !== undefined) {
        const drained = machine.drain(timeoutMs);
        // The connection may be closed already.
        await BuiltinPromise.all(this.#stopTaking.map((stop) => stop().catch(() => {})));
        const ended = this.#stopDurable();
        await waitFor(currentRuntime, timeoutMs, (resolve) => void ended.then(resolve));
        await drained;
        await this.#pool.shutdown(0);
        // Durable calls that take longer go back to the queue, for other machines.
        await waitFor(currentRuntime, RETURN_MS, (resolve) => void ended.then(resolve));
      }
      await this.#pool.shutdown(0);
      await this.#connection?.drain().catch(() => {}); // it may be closed already
    } finally {
      this.#removeSignal?.();
      this.#onStopped();
    }
  }
}
