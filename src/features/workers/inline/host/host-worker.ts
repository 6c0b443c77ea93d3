/**
 * A worker on the thread of its host, where no thread can or should start (`onUnavailable`, `threads: 0`): the code of workers
 * (`worker/entry.ts`) behind the handle of a thread. Calls travel through a lane as they do to a thread, so arguments,
 * results, errors, streams and signals are the same. Loaded only then.
 *
 * Messages to the worker are cloned by a channel, as those to a thread. Either side receives in a macrotask of its own.
 */
import { Promise } from "../../../../builtins.ts";
import { allowHostWorkers, hostWorkers } from "../../../../realm/host-workers.ts";
import type { WorkerRealm } from "../../../../realm/worker-realm.ts";
import {
  type AsyncContext,
  MAX_TIMER_MS,
  type PayloadPort,
  type Runtime,
  type Timer,
} from "../../../../runtimes/runtime.ts";
import type { ParentHandle, WorkerHandle } from "../../../../runtimes/worker-handle.ts";
import type { Serve, Site } from "../../../../worker/site.ts";

export interface HostWorkerOptions {
  /** Imports `mod-worker.ts`. */
  readonly loadWorkerCode: () => Promise<{ readonly serve: Serve }>;
  readonly runtime: Runtime;
  /** The tasks that the host has, by index: functions or declared tasks. Undefined: its module is imported. */
  readonly known: readonly unknown[];
  /** Runs a function in an asynchronous context of no call. */
  readonly inContext: (f: () => void) => void;
}

type Listener<Value> = (value: Value) => void;

/** Loads the code of workers. Returns what makes a worker on this thread. */
export async function loadHostWorkers(options: HostWorkerOptions): Promise<() => WorkerHandle> {
  allowHostWorkers();
  const { serve } = await options.loadWorkerCode();
  return () => new HostWorker(options, serve);
}

/** The worker whose code runs, for all workers on this thread. */
let context: AsyncContext<WorkerRealm> | undefined;

function contextOf(runtime: Runtime): AsyncContext<WorkerRealm> {
  if (context !== undefined) return context;
  const created = context = runtime.createContext<WorkerRealm>();
  hostWorkers()!.realm = () => created.get();
  return created;
}

class HostWorker implements WorkerHandle {
  readonly #options: HostWorkerOptions;
  readonly #context: AsyncContext<WorkerRealm>;
  readonly #channel: { readonly local: PayloadPort; readonly remote: PayloadPort };
  /** Keeps the process running while the worker does. */
  readonly #alive: Timer;
  #onMessage: Listener<unknown> = () => {};
  #onError: Listener<unknown> = () => {};
  #onExit: Listener<number | undefined> = () => {};
  #realm: WorkerRealm | undefined;
  /** Takes the messages to the worker. */
  readonly #receive: Listener<unknown>;
  #isOver = false;

  constructor(options: HostWorkerOptions, serve: Serve) {
    const { runtime } = options;
    this.#options = options;
    this.#context = contextOf(runtime);
    const { local, remote } = runtime.createChannel();
    this.#channel = { local, remote: runtime.openPort(remote) };
    this.#alive = runtime.setInterval(() => {}, MAX_TIMER_MS);
    this.#receive = serve(this.#site());
  }

  #site(): Site {
    return {
      parent: this.#parent(),
      isHost: true,
      known: this.#options.known,
      enter: (realm, _start, f) => {
        this.#realm = realm;
        this.#context.run(realm, f);
      },
      crash: (error) => this.#crash(error),
    };
  }

  #parent(): ParentHandle {
    return {
      // A message of a stopped worker may be the wake-up that the host waits for.
      post: (message) => this.#soon(() => this.#onMessage(message)),
      onMessage: () => {},
      onUnhandledRejection: () => {}, // they are the host's
      onUncaught: () => {},
      onExit: () => {},
      isTerminating: () => this.#isOver,
      writeDirectly: () => {},
      flushOutput: (callback) => callback(),
      exit: () => this.#end(),
    };
  }

  #soon(callback: () => void): void {
    const { runtime, inContext } = this.#options;
    runtime.macrotask(() => inContext(callback));
  }

  post(message: unknown, transfer?: readonly unknown[]): void {
    if (typeof message === "object") message = this.#clone(message, transfer ?? []);
    this.#soon(() => this.#deliver(message));
  }

  /** Throws what a channel throws. */
  #clone(message: unknown, transfer: readonly unknown[]): unknown {
    const { local, remote } = this.#channel;
    local.post(message, transfer);
    return remote.receive()?.message;
  }

  #deliver(message: unknown): void {
    if (this.#isOver) return;
    if (this.#realm === undefined) this.#receive(message);
    else this.#context.run(this.#realm, () => this.#receive(message));
  }

  #crash(error: unknown): void {
    if (this.#isOver) return;
    this.#soon(() => this.#onError(error));
    this.#end();
  }

  /** Without an exit code: what its tasks left may still run, so the host does not reuse its memory. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#alive.clear();
    this.#channel.local.close();
    this.#soon(() => this.#onExit(undefined));
  }

  onMessage(listener: Listener<unknown>): void {
    this.#onMessage = listener;
  }

  onError(listener: Listener<unknown>): void {
    this.#onError = listener;
  }

  onExit(listener: Listener<number | undefined>): void {
    this.#onExit = listener;
  }

  ref(): void {
    this.#alive.ref();
  }

  unref(): void {
    this.#alive.unref();
  }

  /** Its tasks run on if they await something. Nothing that they do reaches the host any more. */
  terminate(): Promise<void> {
    this.#end();
    return Promise.resolve();
  }
}
