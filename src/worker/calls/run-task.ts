/**
 * Runs the calls that the worker loop polls: reads the arguments, calls the task, sends its result or error, at once or
 * when its promise settles.
 */
import { Promise } from "../../builtins.ts";
import { normalizeNumber } from "../../codec/kinds/numbers.ts";
import { damagedFrame, type Endpoint } from "../../lane/endpoint.ts";
import {
  CALL,
  CALL_WITH_NOTHING,
  CALL_WITH_NUMBER,
  CALL_WITH_VALUE,
  DESCRIPTOR_WORD,
  FRAME_BYTES,
  GENERATION_WORD,
  KEY_LISTS,
  kindOf,
  NUMBER_FRAME_BYTES,
  OF_RETURN,
  SLOT_WORD,
  TASK_WORD,
} from "../../lane/frame.ts";
import type { CallMeter } from "../../metering/call-metrics.ts";
import type { CallContext } from "./call-context.ts";
import type { TaskTimer } from "../../metering/task-timings.ts";
import { DataCloneError, InvalidArgumentError, ProtocolError } from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import type { Replies } from "../replies.ts";
import { isGenerator, ResultStreams } from "../streams/result-streams.ts";
import type { ArgumentMessage } from "../../protocol/start-data.ts";
import type { TaskSignals } from "./abort-signals.ts";
import { ArgumentStreams, type CallBack } from "../streams/argument-streams.ts";
import { RunningCalls } from "./running-calls.ts";
import { TaskEvents } from "./task-events.ts";
import { isThenable } from "../../streams/is-thenable.ts";
import { isStreamable } from "../../streams/stream-producer.ts";
import { VARIANTS } from "../../protocol/task-variants.ts";
import { withVariants } from "../loading/task-variants.ts";
import type { WorkerTask } from "../loading/task-modules.ts";

/** As it was when heddle was loaded. */
const promiseThen: (
  this: unknown,
  onValue: (value: unknown) => void,
  onReason: (reason: unknown) => void,
) => unknown = Promise.prototype.then;

const AsyncFunction = (async () => {}).constructor;

const NOT_DECLARED =
  "A task that returns a generator must be a generator function (function*) or an async function.";

export interface TaskRunnerOptions {
  readonly runtime: Runtime;
  readonly endpoint: Endpoint;
  readonly replies: Replies;
  readonly tasks: readonly WorkerTask[];
  readonly times: TaskTimer;
  /** With `metrics: true`. */
  readonly meter: CallMeter | undefined;
  /** With the option `context`: the last argument of every call is what its host captured. */
  readonly context: CallContext | undefined;
  /** Made when a task first takes a signal. */
  readonly rare: { readonly signals: TaskSignals };
  /** Whether a task may block its thread, to wait for its host. */
  readonly mayBlock: boolean;
  /** Posts a message of an argument stream to the host. */
  readonly post: (message: ArgumentMessage) => void;
  readonly callBack: CallBack;
}

export class TaskRunner {
  /** Tasks whose promise has not settled, or whose stream has not ended. */
  inFlight = 0;
  /**
   * Streams that wait for credit or room, and tasks that wait for other calls (host-requests.ts). They do not count for
   * `maxConcurrency`.
   */
  paused = 0;
  /** Results that are streams. Undefined until there is one. */
  streams: ResultStreams | undefined;
  /** Arguments that are streams. Undefined until there is one. */
  argumentStreams: ArgumentStreams | undefined;
  #running: RunningCalls | undefined;
  #events: TaskEvents | undefined;
  readonly #options: TaskRunnerOptions;
  readonly #endpoint: Endpoint;
  readonly #replies: Replies;
  /** By index; the variants are added when one is called. */
  #tasks: readonly WorkerTask[];
  /**
   * By index: the task if nothing but its function matters for its calls: they need no signal, are not tracked, declare no shapes
   * and return no streams.
   */
  readonly #plainTasks: (WorkerTask | undefined)[] = [];
  readonly #times: TaskTimer;
  readonly #meter: CallMeter | undefined;
  readonly #context: CallContext | undefined;
  readonly #respondLater: (respond: () => void) => void;

  /** `respondLater` must call its argument, which sends a response or items of a stream. */
  constructor(options: TaskRunnerOptions, respondLater: (respond: () => void) => void) {
    this.#options = options;
    this.#endpoint = options.endpoint;
    this.#replies = options.replies;
    this.#tasks = options.tasks;
    const arePlain = options.context === undefined && options.meter === undefined;
    for (const task of options.tasks) {
      const { hasSignal, isTracked, signature, isStream } = task;
      const isPlain = !hasSignal && !isTracked && signature === undefined && !isStream;
      this.#plainTasks.push(arePlain && isPlain ? task : undefined);
    }
    // An engine reads beyond the end of an array more slowly, also what is within from then on.
    const indices = VARIANTS * options.tasks.length;
    while (this.#plainTasks.length < indices) this.#plainTasks.push(undefined);
    this.#times = options.times;
    this.#meter = options.meter;
    this.#context = options.context;
    this.#respondLater = respondLater;
    options.endpoint.decoder.openStream = (index, kind) => {
      const { runtime, post, callBack } = options;
      this.argumentStreams ??= new ArgumentStreams({ runtime, post, callBack });
      return this.argumentStreams.open(index, kind);
    };
  }

  /** Which call the running code belongs to. */
  get running(): RunningCalls {
    if (this.#running === undefined) {
      this.#running = new RunningCalls(this.#options.runtime);
      this.#running.isAlone = () => this.inFlight === 1;
      this.#running.onGuess = () => this.trackAll();
    }
    return this.#running;
  }

  /** Values that tasks send before their results. */
  get events(): TaskEvents {
    const { endpoint, replies, mayBlock } = this.#options;
    return this.#events ??= new TaskEvents(this.running, endpoint.snapshots, replies, mayBlock);
  }

  /** Tracks all calls that begin from now on (`running`). */
  trackAll(): void {
    this.#tasks = this.#tasks.map((task) => ({ ...task, isTracked: true }));
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
        return decoder.borrows.length === 0 && this.argumentStreams?.hasOpened !== true
          ? this.#callPlain(plain, slot, generation, argument)
          : this.#call(plain, slot, generation, undefined, argument);
      }
    }
    if (kindOf(descriptor) === KEY_LISTS) {
      this.#endpoint.receiveKeyLists(index, descriptor);
      this.#release();
      return false;
    }
    const task = this.#taskOf(i32[word + TASK_WORD]!, descriptor);
    let argument: unknown;
    let args: unknown[] | undefined;
    if (descriptor === CALL_WITH_NUMBER && rx.end - index >= NUMBER_FRAME_BYTES) {
      argument = normalizeNumber(rx.memory.f64[(index + FRAME_BYTES) >> 3]!);
    } else if (descriptor !== CALL_WITH_NOTHING) {
      // A context runner may await first, so borrowed bytes are copied.
      decoder.isBorrowing = task.mayBorrow && this.#context === undefined;
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

  /** The arguments cannot be read. Rethrows ProtocolError. */
  #refuse(slot: number, generation: number, error: unknown): false {
    if (error instanceof ProtocolError) throw error;
    this.argumentStreams?.forget();
    this.#endBorrows();
    this.#release();
    this.#replies.thrown(slot, generation, error);
    return false;
  }

  /** `#call` for a task of which nothing but its function matters, with one argument that borrows nothing. */
  #callPlain(task: WorkerTask, slot: number, generation: number, argument: unknown): boolean {
    // Before the task runs, since a long task must not keep the ring's bytes.
    if (this.#endpoint.rx.release()) this.#replies.wakeForSpace();
    const startMs = this.#times.begin(task.index);
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
      const isLong = startMs >= 0 && this.#times.end(task.index, startMs, true);
      this.#respond(slot, generation, task, true, error);
      return isLong;
    }
    const isLong = startMs >= 0 && this.#times.end(task.index, startMs, true);
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
    if (this.argumentStreams?.hasOpened === true) this.argumentStreams.bind(slot, generation);
    const { f } = task;
    const startMs = this.#times.begin(task.index);
    if (this.#meter !== undefined) this.#meter.begin(task.index, slot, startMs >= 0);
    let result: unknown;
    let isThrown = false;
    let isLater = false;
    try {
      if (this.#context !== undefined) {
        result = this.#callInContext(task, slot, generation, args ?? [argument]);
      } else if (task.isTracked || task.hasSignal) {
        const all = this.#withSignal(task, slot, generation, args ?? [argument]);
        result = this.#callWith(task, slot, generation, all);
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
    const isLong = startMs >= 0 && this.#times.end(task.index, startMs, isDone);
    if (isDone) this.#respond(slot, generation, task, isThrown, result);
    else this.#open(slot, generation, task, result as object, startMs);
    return isLong;
  }

  /** Calls a task that may be tracked. */
  #callWith(
    { f, isTracked, isStream, emits }: WorkerTask,
    slot: number,
    generation: number,
    args: unknown[],
    context?: unknown,
  ): unknown {
    if (!isTracked) return f(...args);
    const call = { slot, generation, emits, context };
    return this.running.run(call, isStream, () => f(...args));
  }

  #callInContext(task: WorkerTask, slot: number, generation: number, args: unknown[]): unknown {
    const context = args.pop();
    // Open before the task begins, which may be later, so that an abort in between is not missed.
    const all = this.#withSignal(task, slot, generation, args);
    const call = (): unknown => this.#callWith(task, slot, generation, all, context);
    return this.#context!.run(task.index, context, call, task.isStream);
  }

  #taskOf(index: number, descriptor: number): WorkerTask {
    const { tasks, runtime } = this.#options;
    if (index >= tasks.length && this.#tasks.length === tasks.length) {
      this.#tasks = withVariants(this.#tasks, runtime.now);
    }
    const task = this.#tasks[index];
    if (task === undefined || kindOf(descriptor) !== CALL) {
      throw new ProtocolError(`Request ${descriptor} for task ${index} of ${this.#tasks.length}.`);
    }
    return task;
  }

  /** Adds a signal after the arguments of a task that takes one, at the index of the last parameter or later. */
  #withSignal(
    { f, hasSignal }: WorkerTask,
    slot: number,
    generation: number,
    args: unknown[],
  ): unknown[] {
    if (!hasSignal) return args;
    while (args.length < f.length - 1) args.push(undefined);
    args.push(this.#options.rare.signals.open(slot, generation));
    return args;
  }

  #respond(
    slot: number,
    generation: number,
    task: WorkerTask,
    isThrown: boolean,
    result: unknown,
    word = 0,
  ): void {
    if (this.#meter !== undefined) this.#meter.responding(slot);
    if (!isThrown && !this.#replies.result(slot, generation, result, task)) {
      this.#open(slot, generation, task, result as object, -1);
      return;
    }
    this.#close(slot, generation, task);
    if (isThrown) this.#replies.thrown(slot, generation, result, word);
  }

  /** The call is over for its task. */
  #close(slot: number, generation: number, task: WorkerTask): void {
    if (task.hasSignal) this.#options.rare.signals.close(slot, generation);
    if (this.argumentStreams?.isOpen === true) this.argumentStreams.close(slot, generation);
    if (task.isTracked) this.running.close(slot, generation);
  }

  /** Sends a result as a stream. */
  #open(
    slot: number,
    generation: number,
    task: WorkerTask,
    result: object,
    startMs: number,
  ): void {
    if (isGenerator(result) && !task.isStream && !(task.f instanceof AsyncFunction)) {
      // Its caller got a promise, but the types promise a stream.
      this.#respond(slot, generation, task, true, new InvalidArgumentError(NOT_DECLARED));
      return;
    }
    this.inFlight++;
    const onEnd = (isThrown: boolean, value: unknown, isOver: boolean, isOfReturn: boolean) => {
      this.inFlight--;
      if (startMs >= 0) this.#times.settled(task.index, startMs);
      if (isOver) this.#close(slot, generation, task);
      else if (isThrown || !isStreamable(value)) {
        this.#respond(slot, generation, task, isThrown, value, isOfReturn ? OF_RETURN : 0);
      } else {
        const error = new DataCloneError("What a stream returns cannot be a stream itself.");
        this.#respond(slot, generation, task, true, error);
      }
    };
    this.streams ??= new ResultStreams({
      runtime: this.#options.runtime,
      snapshots: this.#endpoint.snapshots,
      replies: this.#replies,
      counts: this,
      run: this.#respondLater,
    });
    try {
      this.streams.open(slot, generation, result, task.highWaterMark, onEnd);
    } catch (error) {
      this.inFlight--;
      this.#respond(slot, generation, task, true, error);
    }
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
      if (startMs >= 0) this.#times.settled(task.index, startMs);
      this.#respondLater(() => this.#respond(slot, generation, task, isThrown, outcome));
    };
    promiseThen.call(
      promise,
      (value) => settle(false, value),
      (reason) => settle(true, reason),
    );
    this.inFlight++;
    if (startMs >= 0) this.#times.end(task.index, startMs, false);
    return true;
  }
}
