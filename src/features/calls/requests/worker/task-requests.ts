/**
 * What `host` and `currentPool` do in a worker: requests to the host. A synchronous call of a synchronous task runs at once in
 * this worker, as a call would: arguments and result are cloned.
 */
import { Map, Promise } from "../../../../builtins.ts";
import { DeadlockError } from "../../../../errors.ts";
import { ARGUMENTS, RESULT_NAME } from "../../../../lane/snapshot.ts";
import type { NestedSettings } from "../messages.ts";
import type { TaskRequests } from "../../../../realm/worker-realm.ts";
import { isThenable } from "../../../../protocol/is-thenable.ts";
import type { WorkerTask } from "../../../../worker/task.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";
import { type HostRequests, hostRequests } from "./host-requests.ts";
import { type LocalValues, localValues } from "./local-values.ts";

export class WorkerTaskRequests implements TaskRequests {
  readonly #core: WorkerCore;
  readonly #requests: HostRequests;
  /** For values that stay in this thread. */
  readonly #values: LocalValues;
  /** The tasks of the worker by name, from the first synchronous call on. */
  #tasks: ReadonlyMap<string, WorkerTask> | undefined;

  constructor(core: WorkerCore) {
    this.#core = core;
    this.#requests = core.part(hostRequests);
    this.#values = core.part(localValues);
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
    const { loop, tasks, named } = this.#core;
    if (loop === undefined) return undefined;
    this.#tasks ??= new Map(tasks.map((task, index) => [named[index]!.name, task]));
    return this.#tasks.get(name);
  }

  #runInline(
    name: string,
    { signature, wraps }: WorkerTask,
    f: WorkerTask["f"],
    given: readonly unknown[],
  ): unknown {
    const args = this.#values.clone(given, ARGUMENTS, signature?.args);
    for (const wrap of wraps) wrap.inside?.(f, args, this.#requests.current);
    let result: unknown;
    try {
      result = f(...args);
    } catch (error) {
      throw this.#values.cloneError(error);
    }
    if (!isThenable(result)) {
      return this.#values.clone([result], RESULT_NAME, signature?.returns)[0];
    }
    Promise.resolve(result).catch(() => {});
    throw new DeadlockError(
      `currentPool().sync.${name}() has returned a promise, for which its own thread would wait. Declare the task as an ` +
        "async function, so that another worker runs it.",
    );
  }
}

/** Those of a worker (`WorkerCore.part`). */
export function taskRequests(core: WorkerCore): WorkerTaskRequests {
  return new WorkerTaskRequests(core);
}
