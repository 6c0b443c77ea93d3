/**
 * Which call the running code belongs to, also after an `await`: for calls whose events somebody wants, and for all calls of a
 * worker in which tasks call tasks. Other calls are not tracked, since contexts make promises slower on some runtimes.
 */
import { Map } from "../../builtins.ts";
import type { AsyncContext, Runtime } from "../../runtimes/runtime.ts";
import { keyOf } from "../../protocol/call-key.ts";
import { seams } from "../feature.ts";
import type { TaskCall, TaskWrap } from "../task.ts";
import type { WorkerCore } from "../worker-core.ts";

export class RunningCalls implements TaskWrap {
  /** Called once where contexts may have to guess: from now on all calls should be tracked. */
  onGuess: () => void = () => {};
  /** Whether the worker has no other call. */
  isAlone: () => boolean = () => false;
  /** Called when a tracked call is over. */
  onOver: (call: TaskCall) => void = () => {};
  readonly #createContext: () => AsyncContext<TaskCall>;
  /** Created with the first call that is tracked. */
  #context: AsyncContext<TaskCall> | undefined;
  readonly #open = new Map<number, TaskCall>();

  constructor({ createContext }: Pick<Runtime, "createContext">) {
    this.#createContext = () => createContext<TaskCall>();
  }

  /** The tracked call that the running code belongs to; it may be over. */
  get current(): TaskCall | undefined {
    const context = this.#context;
    if (context === undefined) return undefined;
    return context.get() ??
      (context.guess !== undefined && this.isAlone() ? context.guess() : undefined);
  }

  /** Runs a task as a call that is tracked. The code of a generator belongs to the call as well. */
  run(call: TaskCall, f: () => unknown): unknown {
    this.#open.set(keyOf(call.slot, call.generation), call);
    const running = this.#context ?? this.#begin();
    if (!call.task.isStream) return running.run(call, f);
    return running.run(
      call,
      () => seams.results!.bind(f(), () => (body) => running.run(call, body)),
    );
  }

  #begin(): AsyncContext<TaskCall> {
    const context = this.#context = this.#createContext();
    if (context.guess !== undefined) this.onGuess();
    return context;
  }

  over(slot: number, generation: number): void {
    const key = keyOf(slot, generation);
    const call = this.#open.get(key);
    if (call === undefined) return;
    call.isOver = true;
    this.#open.delete(key);
    this.onOver(call);
  }
}

/** Those of a worker (`WorkerCore.part`). */
export function runningCalls(core: WorkerCore): RunningCalls {
  const running = new RunningCalls(core.runtime);
  running.isAlone = () => core.loop!.runner.inFlight === 1;
  running.onGuess = () => core.loop!.runner.wrapAll(running);
  return running;
}
