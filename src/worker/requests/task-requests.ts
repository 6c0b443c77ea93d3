/**
 * What `host` and `currentPool` do in a worker: requests to the host. A synchronous call of a synchronous task runs at once in
 * this worker, as a call would: arguments and result are cloned.
 */
import { AbortController, Map, Promise } from "../../builtins.ts";
import type { Codec } from "../../codec/codec.ts";
import { isError } from "../../codec/kinds/errors.ts";
import type { DeclaredValues } from "../../codec/declared.ts";
import { DataCloneError, DeadlockError } from "../../errors.ts";
import { ARGUMENTS, RESULT_NAME } from "../../lane/snapshot.ts";
import { StandaloneValues } from "../../lane/standalone-values.ts";
import type { NestedSettings } from "../../protocol/host-requests.ts";
import type { TaskRequests } from "../../realm/worker-realm.ts";
import { isThenable } from "../../streams/is-thenable.ts";
import type { TaskSignals } from "../calls/abort-signals.ts";
import type { HostRequests } from "./host-requests.ts";
import type { WorkerTask } from "../loading/task-modules.ts";

/** The parts of the worker that it needs, some at their first use. */
interface Parts {
  readonly requests: HostRequests;
  readonly signals: TaskSignals;
}

export class WorkerTaskRequests implements TaskRequests {
  readonly #parts: Parts;
  readonly #requests: HostRequests;
  readonly #values: StandaloneValues;
  /** The tasks of the worker by name, from the first synchronous call on. */
  #tasks: ReadonlyMap<string, WorkerTask> | undefined;

  /** `codec`: for values that stay in this thread. */
  constructor(parts: Parts, codec: Codec) {
    this.#parts = parts;
    this.#requests = parts.requests;
    this.#values = new StandaloneValues(codec);
  }

  track(): void {
    this.#requests.track();
  }

  callHost(name: string, args: readonly unknown[]): Promise<unknown> {
    return this.#requests.request(["function", name], args);
  }

  callHostSync(name: string, args: readonly unknown[]): unknown {
    return this.#requests.requestSync(["function", name], args);
  }

  callTask(
    name: string,
    args: readonly unknown[],
    settings: NestedSettings | undefined,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const context = this.#requests.current?.context;
    return this.#requests.request(["task", name, settings, context], args, signal);
  }

  callTaskSync(
    name: string,
    args: readonly unknown[],
    settings: NestedSettings | undefined,
  ): unknown {
    const task = this.#taskOf(name);
    if (task?.inline !== undefined) return this.#runInline(name, task, task.inline, args);
    const context = this.#requests.current?.context;
    return this.#requests.requestSync(["task", name, settings, context], args);
  }

  /** Undefined for a task of another pool, and while modules are loaded. */
  #taskOf(name: string): WorkerTask | undefined {
    const { parts } = this.#requests;
    if (parts === undefined) return undefined;
    this.#tasks ??= new Map(parts.tasks.map((task, index) => [parts.named[index]!.name, task]));
    return this.#tasks.get(name);
  }

  #runInline(
    name: string,
    { signature, hasSignal }: WorkerTask,
    f: WorkerTask["f"],
    given: readonly unknown[],
  ): unknown {
    const args = this.#clone(given, ARGUMENTS, signature?.args);
    if (hasSignal) {
      while (args.length < f.length - 1) args.push(undefined);
      const call = this.#requests.current;
      args.push(
        call === undefined
          ? new AbortController().signal
          : this.#parts.signals.follow(call.slot, call.generation),
      );
    }
    let result: unknown;
    try {
      result = f(...args);
    } catch (error) {
      throw this.#cloneError(error);
    }
    if (!isThenable(result)) return this.#clone([result], RESULT_NAME, signature?.returns)[0];
    Promise.resolve(result).catch(() => {});
    throw new DeadlockError(
      `currentPool().sync.${name}() has returned a promise, for which its own thread would wait. Declare the task as an ` +
        "async function, so that another worker runs it.",
    );
  }

  #clone(
    values: readonly unknown[],
    name: string,
    declared: DeclaredValues | undefined,
  ): unknown[] {
    const snapshot = this.#values.snapshots.capture(values, name, declared);
    const { decoder } = this.#values.reader;
    decoder.declared = declared;
    try {
      return this.#values.reader.read(snapshot);
    } finally {
      decoder.declared = undefined;
    }
  }

  #cloneError(error: unknown): unknown {
    try {
      const snapshot = isError(error)
        ? this.#values.snapshots.captureError(error)
        : this.#values.snapshots.capture([error], RESULT_NAME);
      return this.#values.reader.read(snapshot)[0];
    } catch (refusal) {
      return refusal instanceof DataCloneError ? refusal : error;
    }
  }
}
