/**
 * How long tasks take, as the workers of a pool measure it: one word per task, in memory that all of them
 * share with the host.
 *
 *    31                                            2  1  0
 *   +------------------------------------------------+------+
 *   | how long it keeps its worker, 0.1 µs, plus 1   | kind |     0 as a whole: not known yet
 *   +------------------------------------------------+------+
 *
 *   kind  SHORT   the response comes soon
 *         ASYNC   it comes later, but the worker is free meanwhile: an async task
 *         LONG    the worker is busy for long: no call should wait behind it
 *
 * Every worker stores its estimate, the last one wins, and the host only reads. Only the choice of a worker
 * and the decision to spin depend on the values: plain loads and stores, no pairing, no order.
 *
 * A clock reading costs 30 to 80 ns, so short tasks are measured only now and then.
 */
export const SHORT = 0;
export const ASYNC = 1;
export const LONG = 2;
export const KIND_MASK = 3;
export const KIND_BITS = 2;

/** Tenths of a microsecond. */
export const PER_US = 10;
/** From this time on a task is LONG, or its response ASYNC. */
const LONG_TENTHS: number = 100 * PER_US;
/** Assumed time of a task without measurements: too long to wait behind. */
const UNKNOWN_TENTHS: number = LONG_TENTHS;
/** Maximum of an estimate, nearly a minute. */
const MAX_TENTHS: number = 2 ** 29 - 2;

/** Weight of a new measurement. */
const WEIGHT = 0.25;
/**
 * Number of first measurements of which the shortest counts, and below which a task does not count as long:
 * its code has never run, and a call of 0.2 ms may take 0.2 µs from then on.
 */
const COLD = 3;
/** A longer measurement makes a task long even if its code is cold: 10 ms. */
const COLD_TENTHS: number = 10_000 * PER_US;
/**
 * Maximum of a measurement relative to the estimate: a collection or another thread may have interrupted the
 * task. A task that has really become slow is measured each time, and counts as long after a few calls.
 */
const MAX_GROWTH = 8;
/** An estimate is stored only if it has changed by more: each store evicts the line from the host's cache. */
const STORED_CHANGE = 0.1;

/** Calls skipped after a measured one: many of a quick task, none of a slow one. */
const QUICK_TENTHS: number = 5 * PER_US;
const QUICK_SKIPPED = 63;
const MIDDLE_SKIPPED = 3;

/** The load of a call, as it stands in a task's word. */
export type CallLoad = number;

/** Load of a call of a task without measurements. */
export const UNKNOWN_LOAD: CallLoad = ((UNKNOWN_TENTHS + 1) << KIND_BITS) | SHORT;

/** How long the call keeps its worker, in tenths of a microsecond. */
export function tenthsOf(load: CallLoad): number {
  return (load >> KIND_BITS) - 1;
}

export function taskTimingsBytes(tasks: number): number {
  return 4 * tasks;
}

/** The host's side. */
export class TaskTimings {
  /** By task; 0: no measurement. */
  readonly loads: Int32Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer) {
    this.loads = new Int32Array(buffer);
  }

  /** Number of indices of tasks. */
  get tasks(): number {
    return this.loads.length;
  }

  /** Load of a call of `task`, or UNKNOWN_LOAD. */
  loadOf(task: number): CallLoad {
    const load = this.loads[task]!;
    return load === 0 ? UNKNOWN_LOAD : load;
  }
}

/** A worker's side. */
export class TaskTimer {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #now: () => number;
  /** Gets the measured run times, in tenths of a microsecond: with `metrics: true`. */
  readonly #onRun: ((task: number, tenths: number) => void) | undefined;
  /** By task: this worker's estimate. -1: none yet. */
  readonly #busy: Float64Array;
  readonly #latency: Float64Array;
  /** By task: measurements, up to COLD. */
  readonly #measured: Uint8Array;
  /** By task: calls left to skip. */
  readonly #skips: Int32Array;

  /** `now` in milliseconds. */
  constructor(
    buffer: SharedArrayBuffer,
    now: () => number,
    onRun?: (task: number, tenths: number) => void,
  ) {
    this.#words = new Int32Array(buffer);
    this.#now = now;
    this.#onRun = onRun;
    const tasks = this.#words.length;
    this.#busy = new Float64Array(tasks).fill(-1);
    this.#latency = new Float64Array(tasks).fill(-1);
    this.#measured = new Uint8Array(tasks);
    this.#skips = new Int32Array(tasks);
  }

  /** Before a call: the time if this call is measured, otherwise -1. */
  begin(task: number): number {
    const skips = this.#skips;
    if (skips[task]! > 0) {
      skips[task]!--;
      return -1;
    }
    return this.#now();
  }

  /**
   * The call that began at `startMs` no longer occupies its worker. `isDone`: its response was sent. True: it took long
   * enough for the event loop to turn.
   */
  end(task: number, startMs: number, isDone: boolean): boolean {
    const tenths = this.#tenthsSince(startMs);
    if (isDone) this.#onRun?.(task, tenths);
    const isCold = this.#measured[task]! < COLD;
    if (isCold) this.#measured[task]!++;
    const least = isCold ? this.#busy[task]! : -1;
    const busy = least >= 0
      ? this.#busy[task] = Math.min(least, tenths)
      : this.#learn(this.#busy, task, tenths);
    if (isDone) this.#latency[task] = busy;
    const most = Math.max(tenths, busy); // while the two differ, measure more often
    this.#skips[task] = most < QUICK_TENTHS
      ? QUICK_SKIPPED
      : most < LONG_TENTHS
      ? MIDDLE_SKIPPED
      : 0;
    this.#store(task);
    return tenths > LONG_TENTHS;
  }

  /** The response of an async call that began at `startMs` was sent. */
  settled(task: number, startMs: number): void {
    const tenths = this.#tenthsSince(startMs);
    this.#onRun?.(task, tenths);
    this.#learn(this.#latency, task, tenths);
    this.#store(task);
  }

  #tenthsSince(startMs: number): number {
    return (this.#now() - startMs) * 1000 * PER_US;
  }

  #learn(estimates: Float64Array, task: number, tenths: number): number {
    const before = estimates[task]!;
    if (before < 0) return estimates[task] = tenths;
    const known = Math.min(tenths, MAX_GROWTH * before + QUICK_TENTHS);
    return estimates[task] = before + (known - before) * WEIGHT;
  }

  #store(task: number): void {
    const busy = Math.min(this.#busy[task]!, MAX_TENTHS);
    // Cold code here must not overwrite another worker's estimate.
    const mayBeLong = busy > COLD_TENTHS && this.#words[task] === 0;
    if (busy > LONG_TENTHS && !mayBeLong && this.#measured[task]! < COLD) return;
    const latency = this.#latency[task]!;
    // Below 0: the first call of an async task is not answered yet.
    const isAsync = latency < 0 || latency > LONG_TENTHS;
    const kind = busy > LONG_TENTHS ? LONG : isAsync ? ASYNC : SHORT;
    const stored = this.#words[task]!;
    const isClose = Math.abs(tenthsOf(stored) - busy) <= Math.max(STORED_CHANGE * busy, 1);
    if (stored !== 0 && (stored & KIND_MASK) === kind && isClose) return;
    this.#words[task] = ((Math.round(busy) + 1) << KIND_BITS) | kind;
  }
}
