/** Options of tasks and of `with`, also that of broadcasts. Types only. */

/** The priority of a call: "high" is 1, "normal" 0, "low" −1, or any number from −1000 to 1000. */
export type Priority = "high" | "normal" | "low" | number;

/** Options of a task, for all its calls. */
export interface TaskOptions {
  /**
   * Each level lets a call overtake up to 1,000 older calls that wait on the host. The limit prevents starvation.
   *
   * @default "normal"
   */
  readonly priority?: Priority;
  /**
   * Maximum run time, in milliseconds, synchronous tasks included. The wait for a worker does not count. The limit never
   * expires early, and at most an eighth late. The call rejects with TimeoutError, unless `timeoutValue` is set; the task
   * continues with its signal aborted (`abortSignal`), its result is dropped, and `killAfterMs` and the pool's `hardTimeoutMs` end it.
   *
   * @default Infinity, no limit
   * @see [time limits](https://github.com/heddle-js/heddle/blob/main/docs/reliability.md#time-limits)
   */
  readonly runTimeoutMs?: number;
  /**
   * Maximum time of a running task in which nothing is heard of it, in milliseconds: no event (of a call with `onEvent`), no item of
   * its stream, no call of a callback, of the host or of a task. Then the call ends as by `runTimeoutMs`. The time does not run while the
   * task waits for such a call, or for the reader of its stream. For tasks that may take long as long as they go on.
   *
   * @default Infinity, no limit
   */
  readonly stallMs?: number;
  /**
   * Maximum time since the call, in milliseconds: for the wait and the run together. Then the call rejects with
   * TimeoutError, unless `timeoutValue` is set. A task that has not started by then never runs; one that has continues, with its
   * signal aborted (`abortSignal`): `killAfterMs` and the pool's `hardTimeoutMs` end it.
   *
   * @default Infinity, no limit
   */
  readonly timeoutMs?: number;
  /**
   * What the call resolves with when `runTimeoutMs`, `stallMs` or `timeoutMs` expires, in place of rejecting. A stream fails in any
   * case. All calls get the same object.
   *
   * @default none: the call rejects
   */
  readonly timeoutValue?: unknown;
  /**
   * How often a call may be repeated if its worker is lost, each time after a longer pause: an integer from 0 to 1000.
   * Says that running the task twice does no harm. Calls whose arguments were transferred are not repeated.
   *
   * @default 0
   */
  readonly retries?: number;
  /**
   * Time from the early end of a call until the worker of its task is stopped if that continues, in milliseconds. A call
   * ends early by an abort, a time limit, its scope, or because the call that made it rejects; a stream also because its
   * reader wants no more. If the pool's `hardTimeoutMs` ends sooner, that counts.
   *
   * @default Infinity: never
   */
  readonly killAfterMs?: number;
  /**
   * For a task whose result is a stream: maximum of items that the worker has sent and the reader has not taken. The
   * worker pauses the task at this number, or at 1 MiB. From 1 to 1,048,576.
   *
   * @default 4096
   * @see [streams](https://github.com/heddle-js/heddle/blob/main/docs/streams.md#results)
   */
  readonly highWaterMark?: number;
}

/** Options of the calls made through `with`. They override those of the task. */
export interface CallOptions extends Omit<TaskOptions, "highWaterMark"> {
  /**
   * Aborts the calls: they reject with `signal.reason` at once. Tasks that have not started never run. Running tasks
   * get the abort if they are declared with `abortSignal: true`; others continue. Signals of a chain of `with` add up. null:
   * no signal, as for `fetch`.
   *
   * @default none
   * @see [aborts](https://github.com/heddle-js/heddle/blob/main/docs/reliability.md#aborts)
   */
  readonly signal?: AbortSignal | null;
  /**
   * A key, a string or a finite number: calls with the same one run in the same worker while it takes calls, and never move to
   * another. Keys are hashed to 1024 slots, which are spread over the workers, so different ones may share a worker. Async calls
   * of one key run side by side, unless `maxConcurrency` is 1.
   *
   * @default any worker
   * @see [calls for certain workers](https://github.com/heddle-js/heddle/blob/main/docs/tasks.md#calls-for-certain-workers)
   */
  readonly affinity?: string | number;
  /**
   * Objects in the arguments that move instead of being copied, as the `list` of {@link transfer}: typed arrays stand for
   * their buffers.
   *
   * @default none
   * @see [moving buffers](https://github.com/heddle-js/heddle/blob/main/docs/payloads.md#moving-buffers)
   */
  readonly transfer?: readonly unknown[];
  /**
   * Gets the values that the task sends by {@link emit} before its result, in order. An error that it throws is an uncaught
   * error; the call goes on.
   *
   * @default none
   * @see [progress](https://github.com/heddle-js/heddle/blob/main/docs/streams.md#progress)
   */
  readonly onEvent?: (value: unknown) => void;
}

/** Options of the broadcasts made through `with`. */
export interface BroadcastOptions extends Omit<CallOptions, "affinity" | "transfer" | "onEvent"> {
  /**
   * Whether workers that start later (growth, replacement) run the call as well, before any other. If it fails there,
   * the worker does not start.
   *
   * @default false
   */
  readonly sticky?: boolean;
}
