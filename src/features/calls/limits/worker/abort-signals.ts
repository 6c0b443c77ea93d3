/**
 * The abort signals of tasks: real AbortSignals, so that `fetch` and other APIs accept them. `aborted` changes
 * at once, even while the task runs synchronous code. The event follows with the reason when the worker's
 * event loop turns.
 */
import { AbortController, AbortSignal as BuiltinAbortSignal, Map } from "../../../../builtins.ts";
import { defineOwn } from "../../../../codec/support/own-property.ts";
import { wasAborted } from "../abort-epochs.ts";
import { abortError, unpackReason } from "../../../../protocol/abort-reason.ts";
import { keyOf } from "../../../../protocol/call-key.ts";
import type { AbortMessage } from "../messages.ts";
import type { TaskCall, TaskWrap } from "../../../../worker/task.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";

interface OpenSignal {
  readonly controller: AbortController;
  /** Set while the event is dispatched: Deno reads `aborted` then, and does nothing if it is true. */
  isDelivering: boolean;
}

export class TaskSignals implements TaskWrap {
  readonly #words: Int32Array<SharedArrayBuffer>;
  /**
   * Where no memory is shared, aborts of calls that have not begun: their signals are aborted from the beginning. The last ones,
   * since a call may also have ended when its abort comes.
   */
  readonly #early: Map<number, unknown> | undefined;
  /** Signals of running calls, by slot and generation: the slot of an aborted call is soon reused. */
  readonly #open = new Map<number, OpenSignal>();

  constructor(buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer);
    if (buffer.byteLength === 0) this.#early = new Map();
  }

  /** Open before the task begins, which may be later, so that an abort in between is not missed. */
  before({ slot, generation, task: { f } }: TaskCall, args: unknown[]): void {
    while (args.length < f.length - 1) args.push(undefined);
    args.push(this.open(slot, generation));
  }

  /** It gets the abort of the task that calls it, without an event, since both are synchronous. */
  inside(f: TaskCall["task"]["f"], args: unknown[], call: TaskCall | undefined): void {
    while (args.length < f.length - 1) args.push(undefined);
    args.push(
      call === undefined ? new AbortController().signal : this.follow(call.slot, call.generation),
    );
  }

  /** Creates the signal of a call that starts. */
  open(slot: number, generation: number): AbortSignal {
    const controller = new AbortController();
    const open: OpenSignal = { controller, isDelivering: false };
    const key = keyOf(slot, generation);
    this.#open.set(key, open);
    if (this.#early?.has(key) === true) controller.abort(this.#early.get(key));
    const isFlagged = (): boolean =>
      !open.isDelivering && wasAborted(this.#words, slot, generation);
    return createSignal(controller.signal, isFlagged);
  }

  /** A signal that tells of the abort of a call, but dispatches no event: for synchronous code. */
  follow(slot: number, generation: number): AbortSignal {
    return createSignal(
      new AbortController().signal,
      () => wasAborted(this.#words, slot, generation),
    );
  }

  /** The call is over. */
  over(slot: number, generation: number): void {
    this.#open.delete(keyOf(slot, generation));
  }

  /** Handles the host's message that a call was aborted. The call may have ended already. */
  deliver(slot: number, generation: number, reason: unknown): void {
    const key = keyOf(slot, generation);
    const open = this.#open.get(key);
    if (open === undefined) {
      this.#rememberEarly(key, reason);
      return;
    }
    open.isDelivering = true;
    open.controller.abort(reason);
  }

  #rememberEarly(key: number, reason: unknown): void {
    if (this.#early === undefined) return;
    this.#early.set(key, reason);
    if (this.#early.size <= MAX_EARLY) return;
    const [oldest] = this.#early.keys();
    this.#early.delete(oldest!);
  }
}

/** Those of a worker (`WorkerCore.part`), of the memory that the host gives: none where threads share none. */
export function taskSignals({ start }: WorkerCore): TaskSignals {
  const given = start.features["limits"] as SharedArrayBuffer | undefined;
  return new TaskSignals(given ?? new SharedArrayBuffer(0));
}

/** The host's message that a call was aborted. */
export function onAbort({ slot, generation, reason }: AbortMessage, core: WorkerCore): void {
  core.part(taskSignals).deliver(slot, generation, unpackReason(core.runtime, reason));
}

/** Aborts that may be remembered: more than calls can be sent in advance. */
const MAX_EARLY = 256;

function createSignal(signal: AbortSignal, isFlagged: () => boolean): AbortSignal {
  const native = {
    aborted: Object.getOwnPropertyDescriptor(BuiltinAbortSignal.prototype, "aborted")!.get!,
    reason: Object.getOwnPropertyDescriptor(BuiltinAbortSignal.prototype, "reason")!.get!,
  };
  let early: DOMException | undefined;
  const isAborted = (): boolean => native.aborted.call(signal) as boolean || isFlagged();
  const reason = (): unknown => {
    if (native.aborted.call(signal)) return native.reason.call(signal);
    // The caller's own reason arrives with the event.
    return isFlagged() ? early ??= abortError() : undefined;
  };
  const throwIfAborted = (): void => {
    if (isAborted()) throw reason();
  };
  defineOwn(signal, "aborted", { get: isAborted });
  defineOwn(signal, "reason", { get: reason });
  defineOwn(signal, "throwIfAborted", { value: throwIfAborted });
  return signal;
}
