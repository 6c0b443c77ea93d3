/**
 * Which call the running code belongs to, also after an `await`: for calls whose events somebody wants, and for all calls of a
 * worker in which tasks call tasks. Other calls are not tracked, since contexts make promises slower on some runtimes.
 */
import { Map } from "../../builtins.ts";
import type { AsyncContext, Runtime } from "../../runtimes/runtime.ts";
import { keyOf } from "../../protocol/call-key.ts";
import { bindIterator } from "../streams/bound-iterator.ts";

export interface RunningCall {
  readonly slot: number;
  readonly generation: number;
  /** Whether its caller wants its events. */
  readonly emits: boolean;
  /** What the host captured for it (option `context`). */
  readonly context: unknown;
  isOver: boolean;
}

export class RunningCalls {
  /** Called once where contexts may have to guess: from now on all calls should be tracked. */
  onGuess: () => void = () => {};
  /** Whether the worker has no other call. */
  isAlone: () => boolean = () => false;
  /** Called when a tracked call is over. */
  onOver: (call: RunningCall) => void = () => {};
  readonly #createContext: () => AsyncContext<RunningCall>;
  /** Created with the first call that is tracked. */
  #context: AsyncContext<RunningCall> | undefined;
  readonly #open = new Map<number, RunningCall>();

  constructor({ createContext }: Pick<Runtime, "createContext">) {
    this.#createContext = () => createContext<RunningCall>();
  }

  /** The tracked call that the running code belongs to; it may be over. */
  get current(): RunningCall | undefined {
    const context = this.#context;
    if (context === undefined) return undefined;
    return context.get() ??
      (context.guess !== undefined && this.isAlone() ? context.guess() : undefined);
  }

  /** Runs a task as a call that is tracked. `isStream`: its result is a generator, whose code belongs to the call as well. */
  run(
    { slot, generation, emits, context }: Omit<RunningCall, "isOver">,
    isStream: boolean,
    f: () => unknown,
  ): unknown {
    const call: RunningCall = { slot, generation, emits, context, isOver: false };
    this.#open.set(keyOf(slot, generation), call);
    const running = this.#context ?? this.#begin();
    return running.run(
      call,
      isStream ? () => bindIterator(f(), () => (body) => running.run(call, body)) : f,
    );
  }

  #begin(): AsyncContext<RunningCall> {
    const context = this.#context = this.#createContext();
    if (context.guess !== undefined) this.onGuess();
    return context;
  }

  close(slot: number, generation: number): void {
    const key = keyOf(slot, generation);
    const call = this.#open.get(key);
    if (call === undefined) return;
    call.isOver = true;
    this.#open.delete(key);
    this.onOver(call);
  }
}
