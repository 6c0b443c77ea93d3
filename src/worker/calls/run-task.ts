/**
 * Runs the calls that the worker loop polls: reads the arguments, calls the task, sends its result or error, at once or
 * when its promise settles.
 */
import { Map, Promise } from "../../builtins.ts";
import { normalizeNumber } from "../../codec/kinds/numbers.ts";
import { damagedFrame, type Endpoint } from "../../lane/endpoint.ts";
import {
  CALL,
  CALL_BY_NAME,
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
import { TaskTimer } from "../../metering/task-timings.ts";
import { ProtocolError } from "../../errors.ts";
import { keyOf } from "../../protocol/call-key.ts";
import { runsByName, type TaskDescription } from "../../protocol/start-data.ts";
import { OBJECT, VARIANTS } from "../../protocol/task-variants.ts";
import { seams } from "../feature.ts";
import type { HeldArgument, TaskCall, TaskWrap, WorkerTask } from "../task.ts";
import type { Replies } from "../replies.ts";
import type { WorkerCore } from "../worker-core.ts";

/** As it was when heddle was loaded. */
const promiseThen: (
  this: unknown,
  onValue: (value: unknown) => void,
  onReason: (reason: unknown) => void,
) => unknown = Promise.prototype.then;

export class TaskRunner {
  /** Tasks whose promise has not settled, or whose stream has not ended. */
  inFlight = 0;
  /**
   * Streams that wait for credit or room, and tasks that wait for other calls (host-requests.ts). They do not count for
   * `maxConcurrency`.
   */
  paused = 0;
  /** Arguments that live as long as their calls: of running calls, in the order of the arguments. */
  readonly held: Map<number, readonly HeldArgument[]> = new Map();
  /** Those among the arguments that were read last. */
  #opened: HeldArgument[] = [];
  readonly times: TaskTimer;
  /** Calls its argument, which sends a response or a part of it, outside the worker loop. */
  readonly respondLater: (respond: () => void) => void;
  readonly #core: WorkerCore;
  readonly #endpoint: Endpoint;
  readonly #replies: Replies;
  /** By index, with what is around their calls. Each variant is added when it is first called. */
  #tasks: (WorkerTask | undefined)[] = [];

  constructor(core: WorkerCore, respondLater: (respond: () => void) => void) {
    const { start, runtime, endpoint } = core;
    this.#core = core;
    this.#endpoint = endpoint;
    this.#replies = core.replies;
    this.times = new TaskTimer(start.taskTimings, runtime.now, core.onRun);
    this.respondLater = respondLater;
    this.#prepare();
    endpoint.decoder.openStream = (index, kind) => {
      const open = seams.held[kind];
      if (open === undefined) throw new ProtocolError(`An argument of kind ${kind}.`);
      const opened = open(index, core);
      this.#opened.push(opened);
      return opened.value;
    };
  }

  /** Adds something around all calls that begin from now on. */
  wrapAll(wrap: TaskWrap): void {
    const { wraps } = this.#core;
    if (!wraps.includes(wrap)) wraps.push(wrap);
    this.#prepare();
  }

  #prepare(): void {
    const core = this.#core;
    core.tasks = core.tasks.map((task) => withWraps(task, core));
    this.#tasks = [...core.tasks];
    // An engine reads beyond the end of an array more slowly, also what is within from then on.
    while (this.#tasks.length < VARIANTS * (core.tasks.length || 1)) this.#tasks.push(undefined);
  }

  /** The task with this index that was not called before: a variant of a task (protocol/task-variants.ts). */
  #addVariant(index: number): WorkerTask {
    const core = this.#core;
    const width = core.tasks.length || 1;
    const variant = Math.floor(index / width);
    const task = core.tasks[index % width]!;
    const vary = seams.variants[variant];
    if (vary === undefined || (task === undefined && variant < OBJECT)) {
      throw new ProtocolError(`A call of task ${index} of ${core.tasks.length}.`);
    }
    return this.#tasks[index] = withWraps({ ...task, ...vary(task, core), index }, core);
  }

  /**
   * Runs the polled record at `index`, unless the host has revoked it. Throws ProtocolError for a damaged one. True: its
   * task was measured and took long enough for the event loop to turn.
   */
  run(index: number): boolean {
    const { rx, decoder } = this.#endpoint;
    const { memory, end } = rx;
    if (end - index < FRAME_BYTES) throw damagedFrame(end - index);
    const { i32 } = memory;
    const word = index >> 2;
    const descriptor = i32[word + DESCRIPTOR_WORD]!;
    if (!rx.acquire(index)) {
      this.#endpoint.discard(index);
      this.#release();
      return false;
    }
    const slot = i32[word + SLOT_WORD]!;
    const generation = i32[word + GENERATION_WORD]!;
    const at = i32[word + TASK_WORD]!;
    if (descriptor === CALL_WITH_NUMBER && end - index >= NUMBER_FRAME_BYTES) {
      const task = this.#tasks[at] ?? this.#addVariant(at);
      const number = normalizeNumber(memory.f64[(index + FRAME_BYTES) >> 3]!);
      return this.#call(task, slot, generation, undefined, number);
    }
    const kind = descriptor === CALL_WITH_VALUE ? CALL : kindOf(descriptor);
    if (kind === KEY_LISTS) {
      this.#endpoint.receiveKeyLists(index, descriptor);
      this.#release();
      return false;
    }
    if (kind !== CALL && kind !== CALL_BY_NAME) throw new ProtocolError(`Request ${descriptor}.`);
    let task = kind === CALL ? this.#tasks[at] ?? this.#addVariant(at) : undefined;
    let argument: unknown;
    let args: unknown[] | undefined;
    decoder.isBorrowing = task?.mayBorrow === true;
    decoder.declared = task?.signature?.args;
    try {
      if (descriptor === CALL_WITH_VALUE) argument = decoder.one(memory, index + FRAME_BYTES, end);
      else if (kind === CALL) args = this.#endpoint.readValues(index, descriptor);
      else {
        const [name, given] = this.#endpoint.readByName(index, descriptor);
        task = this.#find(name);
        args = given;
      }
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      this.#opened = [];
      this.#endBorrows();
      this.#replies.thrown(slot, generation, error);
      return false;
    }
    if (task !== undefined) return this.#call(task, slot, generation, args, argument);
    this.#release();
    return false;
  }

  /** The task of a call that was made before the host knew the tasks. Undefined: the host makes the call again. */
  #find(name: unknown): WorkerTask | undefined {
    const { named, tasks } = this.#core;
    return tasks[named.findIndex((one) => one.name === name && runsByName(one as TaskDescription))];
  }

  /** Calls a task with these arguments, or with one, and sends its result or error. */
  #call(
    task: WorkerTask,
    slot: number,
    generation: number,
    args: unknown[] | undefined,
    argument: unknown,
  ): boolean {
    const { rx, decoder } = this.#endpoint;
    const isBorrowing = decoder.borrows.length > 0;
    // Releases before the task runs, since a long task must not keep the ring's bytes, unless it reads them in place.
    if (!isBorrowing && rx.release()) this.#replies.wakeForSpace();
    if (this.#opened.length > 0) this.#hold(slot, generation);
    const { f, index, wraps } = task;
    const startMs = this.times.begin(index);
    let result: unknown;
    let isThrown = false;
    let isLater = false;
    try {
      if (wraps.length > 0) {
        const isMeasured = startMs >= 0;
        const own = { context: undefined, name: undefined, isOver: false };
        const call = { slot, generation, task, isMeasured, ...own };
        result = callWrapped(call, args ?? [argument]);
      } else result = args === undefined ? f(argument) : f(...args);
      // `isThenable`, written out: a call enters no function that it does not need.
      isLater = typeof result === "object" && result !== null &&
        typeof (result as { then?: unknown }).then === "function" &&
        this.#settleLater(slot, generation, task, result as PromiseLike<unknown>, startMs);
    } catch (error) {
      result = error;
      isThrown = true;
    }
    if (isBorrowing) this.#endBorrows();
    if (isLater) return false;
    const isDone = !task.isStream || isThrown;
    const isLong = startMs >= 0 && this.times.end(index, startMs, isDone);
    if (!isDone) this.#open(slot, generation, task, result as object, startMs);
    else if (isThrown || wraps.length > 0 || this.held.size > 0) {
      this.respond(slot, generation, task, isThrown, result);
    } else if (!this.#replies.result(slot, generation, result, task)) {
      this.#open(slot, generation, task, result as object, -1);
    }
    return isLong;
  }

  /** Sends the result of a call, or what it has thrown. `word`: OF_RETURN or 0. */
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
  close(slot: number, generation: number, { wraps }: WorkerTask): void {
    for (let at = 0; at < wraps.length; at++) wraps[at]!.over?.(slot, generation);
    if (this.held.size === 0) return;
    const key = keyOf(slot, generation);
    for (const argument of this.held.get(key) ?? []) argument.close();
    this.held.delete(key);
  }

  /** The arguments that were read last belong to this call. */
  #hold(slot: number, generation: number): void {
    for (const argument of this.#opened) argument.bind(slot, generation);
    this.held.set(keyOf(slot, generation), this.#opened);
    this.#opened = [];
  }

  /** Sends a result that is no value. */
  #open(
    slot: number,
    generation: number,
    task: WorkerTask,
    value: object,
    startMs: number,
  ): void {
    seams.results!.send({ slot, generation, task, value, startMs }, this.#core);
  }

  /** Releases the polled record. */
  #release(): void {
    if (this.#endpoint.rx.release()) this.#replies.wakeForSpace();
  }

  /** Releases the polled record, of which nothing may be read in place any more. */
  #endBorrows(): void {
    const { borrows } = this.#endpoint.decoder;
    for (const range of borrows) range.revoke();
    borrows.length = 0;
    this.#release();
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
    const promise = this.#core.runtime.isPromise(result)
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

/** The task with all that is around its calls: what is around those of all tasks, and inside of it what its properties ask for. */
function withWraps(task: WorkerTask, core: WorkerCore): WorkerTask {
  const wraps = [...core.wraps];
  for (const property in seams.wraps) {
    if (task[property as keyof WorkerTask] !== true) continue;
    const wrap = core.part(seams.wraps[property]!);
    if (!wraps.includes(wrap)) wraps.push(wrap);
  }
  const mayDelay = wraps.some((wrap) => wrap.mayDelay === true);
  return { ...task, mayBorrow: task.mayBorrow && !mayDelay, wraps };
}

/** Calls a task within all that is around it. */
function callWrapped(call: TaskCall, args: unknown[]): unknown {
  const { f, wraps } = call.task;
  let run = (): unknown => f(...args);
  for (const wrap of wraps) wrap.before?.(call, args);
  for (const wrap of wraps.toReversed()) {
    if (wrap.run === undefined) continue;
    const inner = run;
    run = () => wrap.run!(call, inner);
  }
  return run();
}
