/**
 * Runs the calls that the worker loop polls: reads the arguments, calls the task, sends its result or error, at once or
 * when its promise settles.
 */
import { Promise } from "../../builtins.ts";
import { normalizeNumber } from "../../codec/kinds/numbers.ts";
import { damagedFrame, type Endpoint } from "../../lane/endpoint.ts";
import {
  CALL,
  CALL_BY_NAME,
  CALL_WITH_NOTHING,
  CALL_WITH_NUMBER,
  CALL_WITH_VALUE,
  DESCRIPTOR_WORD,
  FRAME_BYTES,
  GENERATION_WORD,
  KEY_LISTS,
  kindOf,
  NUMBER_FRAME_BYTES,
  SLOT_WORD,
  TASK_WORD,
} from "../../lane/frame.ts";
import type { TaskTimer } from "../../metering/task-timings.ts";
import { ProtocolError } from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { seams } from "../feature.ts";
import type { TaskCall, TaskWrap, WorkerTask } from "../task.ts";
import type { Replies } from "../replies.ts";
import { isThenable } from "../../protocol/is-thenable.ts";
import { runsByName, type TaskDescription } from "../../protocol/start-data.ts";
import { VARIANTS } from "../../protocol/task-variants.ts";
import { withVariants } from "../loading/task-variants.ts";
import type { WorkerCore } from "../worker-core.ts";
import { HeldArguments } from "./held-arguments.ts";

/** As it was when heddle was loaded. */
const promiseThen: (
  this: unknown,
  onValue: (value: unknown) => void,
  onReason: (reason: unknown) => void,
) => unknown = Promise.prototype.then;

export interface TaskRunnerOptions {
  readonly runtime: Runtime;
  readonly endpoint: Endpoint;
  readonly replies: Replies;
  readonly tasks: readonly WorkerTask[];
  readonly times: TaskTimer;
  /** What is around the calls of all tasks. */
  readonly wraps: readonly TaskWrap[];
  /** For features. */
  readonly core: WorkerCore;
}

export class TaskRunner {
  /** Tasks whose promise has not settled, or whose stream has not ended. */
  inFlight = 0;
  /**
   * Streams that wait for credit or room, and tasks that wait for other calls (host-requests.ts). They do not count for
   * `maxConcurrency`.
   */
  paused = 0;
  /** Arguments that live as long as their calls. Undefined until there is one. */
  held: HeldArguments | undefined;
  readonly times: TaskTimer;
  /** Calls its argument, which sends a response or a part of it, outside the worker loop. */
  readonly respondLater: (respond: () => void) => void;
  readonly #options: TaskRunnerOptions;
  readonly #endpoint: Endpoint;
  readonly #replies: Replies;
  /** By index; the variants are added when one is called. */
  #tasks: readonly (WorkerTask | undefined)[];
  /**
   * By index: the task if nothing but its function matters for its calls: nothing is around them, they declare no shapes and
   * return no streams.
   */
  readonly #plainTasks: (WorkerTask | undefined)[] = [];

  constructor(options: TaskRunnerOptions, respondLater: (respond: () => void) => void) {
    const { wraps, core } = options;
    this.#options = options;
    this.#endpoint = options.endpoint;
    this.#replies = options.replies;
    this.#tasks = wraps.length === 0 ? options.tasks : wrapped(options.tasks, wraps);
    for (const task of this.#tasks as readonly WorkerTask[]) {
      const isPlain = task.wraps.length === 0 && task.signature === undefined && !task.isStream;
      this.#plainTasks.push(isPlain ? task : undefined);
    }
    // An engine reads beyond the end of an array more slowly, also what is within from then on.
    const indices = VARIANTS * options.tasks.length;
    while (this.#plainTasks.length < indices) this.#plainTasks.push(undefined);
    this.times = options.times;
    this.respondLater = respondLater;
    options.endpoint.decoder.openStream = (index, kind) => {
      this.held ??= new HeldArguments(core);
      return this.held.open(index, kind);
    };
  }

  /** Adds something around all calls that begin from now on. */
  wrapAll(wrap: TaskWrap): void {
    this.#tasks = this.#tasks.map((task) =>
      task && { ...task, wraps: [...task.wraps.filter((one) => one !== wrap), wrap] }
    );
    this.#plainTasks.fill(undefined);
  }

  /**
   * Runs the polled record at `index`, unless the host has revoked it. Throws ProtocolError for a damaged one. True: its
   * task was measured and took long enough for the event loop to turn.
   */
  run(index: number): boolean {
    const { rx, decoder } = this.#endpoint;
    if (rx.end - index < FRAME_BYTES) throw damagedFrame(rx.end - index);
    if (!rx.acquire(index)) {
      this.#endpoint.discard(index);
      this.#release();
      return false;
    }
    const { i32 } = rx.memory;
    const word = index >> 2;
    const descriptor = i32[word + DESCRIPTOR_WORD]!;
    const slot = i32[word + SLOT_WORD]!;
    const generation = i32[word + GENERATION_WORD]!;
    const plain = this.#plainTasks[i32[word + TASK_WORD]!];
    if (plain !== undefined) {
      if (descriptor === CALL_WITH_NUMBER && rx.end - index >= NUMBER_FRAME_BYTES) {
        const argument = normalizeNumber(rx.memory.f64[(index + FRAME_BYTES) >> 3]!);
        return this.#callPlain(plain, slot, generation, argument);
      }
      if (descriptor === CALL_WITH_VALUE) {
        decoder.isBorrowing = plain.mayBorrow;
        decoder.declared = undefined;
        let argument: unknown;
        try {
          argument = decoder.one(rx.memory, index + FRAME_BYTES, rx.end);
        } catch (error) {
          return this.#refuse(slot, generation, error);
        }
        return decoder.borrows.length === 0 && this.held?.hasOpened !== true
          ? this.#callPlain(plain, slot, generation, argument)
          : this.#call(plain, slot, generation, undefined, argument);
      }
    }
    if (kindOf(descriptor) === KEY_LISTS) {
      this.#endpoint.receiveKeyLists(index, descriptor);
      this.#release();
      return false;
    }
    if (kindOf(descriptor) === CALL_BY_NAME) return this.#runByName(index, descriptor);
    const task = this.#taskOf(i32[word + TASK_WORD]!, descriptor);
    let argument: unknown;
    let args: unknown[] | undefined;
    if (descriptor === CALL_WITH_NUMBER && rx.end - index >= NUMBER_FRAME_BYTES) {
      argument = normalizeNumber(rx.memory.f64[(index + FRAME_BYTES) >> 3]!);
    } else if (descriptor !== CALL_WITH_NOTHING) {
      decoder.isBorrowing = task.mayBorrow;
      decoder.declared = task.signature?.args;
      try {
        if (descriptor === CALL_WITH_VALUE) {
          argument = decoder.one(rx.memory, index + FRAME_BYTES, rx.end);
        } else args = this.#endpoint.readValues(index, descriptor);
      } catch (error) {
        return this.#refuse(slot, generation, error);
      }
    }
    if (descriptor === CALL_WITH_NOTHING) args = [];
    return this.#call(task, slot, generation, args, argument);
  }

  /** Runs a call that was made before the host knew the tasks. Others than those that `runsByName` the host makes again. */
  #runByName(index: number, descriptor: number): boolean {
    const { endpoint, core: { named } } = this.#options;
    const { i32 } = endpoint.rx.memory;
    const slot = i32[(index >> 2) + SLOT_WORD]!;
    const generation = i32[(index >> 2) + GENERATION_WORD]!;
    endpoint.decoder.isBorrowing = false;
    endpoint.decoder.declared = undefined;
    let called: readonly [name: unknown, args: unknown[]];
    try {
      called = endpoint.readByName(index, descriptor);
    } catch (error) {
      return this.#refuse(slot, generation, error);
    }
    const [name, args] = called;
    const task = named.findIndex((one) => one.name === name && runsByName(one as TaskDescription));
    if (task >= 0) return this.#call(this.#tasks[task]!, slot, generation, args, undefined);
    this.#release();
    return false;
  }

  /** The arguments cannot be read. Rethrows ProtocolError. */
  #refuse(slot: number, generation: number, error: unknown): false {
    if (error instanceof ProtocolError) throw error;
    this.held?.forget();
    this.#endBorrows();
    this.#release();
    this.#replies.thrown(slot, generation, error);
    return false;
  }

  /** `#call` for a task of which nothing but its function matters, with one argument that borrows nothing. */
  #callPlain(task: WorkerTask, slot: number, generation: number, argument: unknown): boolean {
    // Before the task runs, since a long task must not keep the ring's bytes.
    if (this.#endpoint.rx.release()) this.#replies.wakeForSpace();
    const startMs = this.times.begin(task.index);
    let result: unknown;
    try {
      result = task.f(argument);
      // `isThenable`, written out.
      if (
        typeof result === "object" && result !== null &&
        typeof (result as { then?: unknown }).then === "function"
      ) {
        this.#settleLater(slot, generation, task, result as PromiseLike<unknown>, startMs);
        return false;
      }
    } catch (error) {
      const isLong = startMs >= 0 && this.times.end(task.index, startMs, true);
      this.respond(slot, generation, task, true, error);
      return isLong;
    }
    const isLong = startMs >= 0 && this.times.end(task.index, startMs, true);
    if (typeof result === "number" && this.#replies.number(slot, generation, result)) return isLong;
    if (!this.#replies.result(slot, generation, result)) {
      this.#open(slot, generation, task, result as object, -1);
    }
    return isLong;
  }

  /** Calls a task with these arguments, or with one, and sends its result or error. */
  #call(
    task: WorkerTask,
    slot: number,
    generation: number,
    args: unknown[] | undefined,
    argument: unknown,
  ): boolean {
    const isBorrowing = this.#endpoint.decoder.borrows.length > 0;
    // Releases before the task runs, since a long task must not keep the ring's bytes, unless it reads them in place.
    if (!isBorrowing) this.#release();
    if (this.held?.hasOpened === true) this.held.bind(slot, generation);
    const { f } = task;
    const startMs = this.times.begin(task.index);
    let result: unknown;
    let isThrown = false;
    let isLater = false;
    try {
      if (task.wraps.length > 0) {
        const isMeasured = startMs >= 0;
        const call = { slot, generation, task, isMeasured, context: undefined, isOver: false };
        result = callWrapped(call, args ?? [argument]);
      } else result = args === undefined ? f(argument) : f(...args);
      isLater = isThenable(result) && this.#settleLater(slot, generation, task, result, startMs);
    } catch (error) {
      result = error;
      isThrown = true;
    }
    if (isBorrowing) {
      this.#endBorrows();
      this.#release();
    }
    if (isLater) return false;
    const isDone = !task.isStream || isThrown;
    const isLong = startMs >= 0 && this.times.end(task.index, startMs, isDone);
    if (isDone) this.respond(slot, generation, task, isThrown, result);
    else this.#open(slot, generation, task, result as object, startMs);
    return isLong;
  }

  #taskOf(index: number, descriptor: number): WorkerTask {
    const { tasks, core } = this.#options;
    if (index >= tasks.length && this.#tasks.length === tasks.length) {
      this.#tasks = withVariants(this.#tasks as readonly WorkerTask[], core);
    }
    const task = this.#tasks[index];
    if (task === undefined || kindOf(descriptor) !== CALL) {
      throw new ProtocolError(`Request ${descriptor} for task ${index} of ${this.#tasks.length}.`);
    }
    return task;
  }

  /** Sends the result of a call, or what it has thrown. */
  respond(
    slot: number,
    generation: number,
    task: WorkerTask,
    isThrown: boolean,
    result: unknown,
    word = 0,
  ): void {
    const { wraps } = task;
    for (let at = 0; at < wraps.length; at++) wraps[at]!.responding?.(slot);
    if (!isThrown && !this.#replies.result(slot, generation, result, task)) {
      this.#open(slot, generation, task, result as object, -1);
      return;
    }
    this.close(slot, generation, task);
    if (isThrown) this.#replies.thrown(slot, generation, result, word);
  }

  /** The call is over for its task. */
  close(slot: number, generation: number, task: WorkerTask): void {
    const { wraps } = task;
    for (let at = 0; at < wraps.length; at++) wraps[at]!.over?.(slot, generation);
    if (this.held?.isOpen === true) this.held.close(slot, generation);
  }

  /** Sends a result that is no value. */
  #open(
    slot: number,
    generation: number,
    task: WorkerTask,
    value: object,
    startMs: number,
  ): void {
    seams.results!.send({ slot, generation, task, value, startMs }, this.#options.core);
  }

  /** Releases the polled record. */
  #release(): void {
    if (this.#endpoint.rx.release()) this.#replies.wakeForSpace();
  }

  #endBorrows(): void {
    const { borrows } = this.#endpoint.decoder;
    for (const range of borrows) range.revoke();
    borrows.length = 0;
  }

  /** May throw before anything is awaited, since a task can return any value. */
  #settleLater(
    slot: number,
    generation: number,
    task: WorkerTask,
    result: PromiseLike<unknown>,
    startMs: number,
  ): true {
    // A promise is awaited by the built-in `then`, which calls back exactly once even if its owner has
    // replaced `then`. Any other thenable is wrapped in a promise for the same guarantee.
    const promise = this.#options.runtime.isPromise(result)
      ? result
      : new Promise((resolve) => resolve(result));
    const settle = (isThrown: boolean, outcome: unknown): void => {
      this.inFlight--;
      if (startMs >= 0) this.times.settled(task.index, startMs);
      this.respondLater(() => this.respond(slot, generation, task, isThrown, outcome));
    };
    promiseThen.call(
      promise,
      (value) => settle(false, value),
      (reason) => settle(true, reason),
    );
    this.inFlight++;
    if (startMs >= 0) this.times.end(task.index, startMs, false);
    return true;
  }
}

/** With `wraps` around the calls of all tasks, outside of what is around those of some. */
function wrapped(tasks: readonly WorkerTask[], wraps: readonly TaskWrap[]): readonly WorkerTask[] {
  const mayDelay = wraps.some((wrap) => wrap.mayDelay === true);
  return tasks.map((task) => ({
    ...task,
    mayBorrow: task.mayBorrow && !mayDelay,
    wraps: [...wraps, ...task.wraps],
  }));
}

/** Calls a task within all that is around it. */
function callWrapped(call: TaskCall, args: unknown[]): unknown {
  const { f, wraps } = call.task;
  let run = (): unknown => f(...args);
  for (const wrap of wraps) wrap.before?.(call, args);
  for (let at = wraps.length - 1; at >= 0; at--) {
    const wrap = wraps[at]!;
    if (wrap.run === undefined) continue;
    const inner = run;
    run = () => wrap.run!(call, inner);
  }
  return run();
}
