/** A task: its argument, where it stands, and how it ends. */
import type { PiscinaTask } from "./balancer.ts";
import type { Task } from "./queues.ts";
import { isMoved, listOf, queueOptionsSymbol, valueSymbol } from "./symbols.ts";

/** An AbortSignal, or an emitter of an event "abort". */
export type AnySignal = AbortSignal | {
  readonly aborted?: boolean;
  readonly reason?: unknown;
  once(name: "abort", listener: () => void): unknown;
  off(name: "abort", listener: () => void): unknown;
};

let lastId = 0;

/** A task with what queues and balancers read. JSR's types cannot have a class with a key that is a symbol. */
export type QueuedTask = PoolTask & Task;

export class PoolTask {
  readonly taskId: number = lastId++;
  readonly filename: string;
  readonly name: string;
  readonly signal: AnySignal | null;
  readonly transferList: readonly unknown[];
  /** By `performance.now()`; 0: no worker has it. */
  readonly created: number;
  started = 0;
  /** Its argument, under Piscina's name: queues read it. */
  task: unknown;
  isAborted = false;
  readonly promise: Promise<unknown>;
  readonly reject: (error: unknown) => void;
  readonly #resolve: (result: unknown) => void;
  readonly #onDone: (task: PoolTask) => void;
  #isDone = false;
  #stopFollowing: (() => void) | undefined;

  /** `onDone`: called once, when its promise has been settled. */
  constructor(
    value: unknown,
    transferList: readonly unknown[],
    filename: string,
    name: string,
    signal: AnySignal | null,
    created: number,
    onDone: (task: PoolTask) => void,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.promise = promise;
    this.reject = reject;
    this.#resolve = resolve;
    this.#onDone = onDone;
    this.filename = filename;
    this.name = name;
    this.signal = signal;
    this.created = created;
    const moved = isMoved(value) ? value : undefined;
    this.task = moved === undefined ? value : moved[valueSymbol];
    this.transferList = moved === undefined ? transferList : [...transferList, ...listOf(moved)];
    const argument = this.task as { readonly [queueOptionsSymbol]?: object } | null | undefined;
    (this as unknown as { [queueOptionsSymbol]: object | null })[queueOptionsSymbol] =
      argument?.[queueOptionsSymbol] ?? null;
  }

  get isAbortable(): boolean {
    return this.signal !== null;
  }

  /** What a balancer of the program may read. */
  get interface(): PiscinaTask {
    const { taskId, filename, name, created, isAbortable } = this;
    return {
      taskId,
      filename,
      name,
      created,
      isAbortable,
      [queueOptionsSymbol]: (this as unknown as QueuedTask)[queueOptionsSymbol],
    };
  }

  follow(onAbort: () => void): void {
    const signal = this.signal!;
    const listener = (): void => {
      this.isAborted = true;
      onAbort();
    };
    if ("addEventListener" in signal) {
      signal.addEventListener("abort", listener, { once: true });
      this.#stopFollowing = () => signal.removeEventListener("abort", listener);
    } else {
      signal.once("abort", listener);
      this.#stopFollowing = () => signal.off("abort", listener);
    }
  }

  done(error: unknown, isFailed: boolean, result?: unknown): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#stopFollowing?.();
    if (isFailed) this.reject(error);
    else this.#resolve(result);
    this.#onDone(this);
  }
}
