/**
 * Memory that host and workers share for `metrics: true`: when the calls in flight were made, and histograms of the wait
 * and run times of tasks.
 *
 *   0                       stamps of SLOTS slots of the host's slab, three f64 each:
 *                             made    host: when the call was made; negative: its times are wanted. 0: not known
 *                             begun   worker: when the task began, if its times are wanted
 *                             run     worker: the task's run time in milliseconds, likewise; 0: it has not ended
 *   SLOTS * STAMP_BYTES     two histograms of each task: wait, run (log-histogram.ts)
 *
 * A stamp is written before its call is published in the ring, and read by the worker after that; `begun` and `run` before
 * the response, and read after it. Calls in slots from SLOTS on are not measured. Times are milliseconds of a clock
 * that all threads share.
 */
import { OBJECT } from "../../../protocol/task-variants.ts";
import { HISTOGRAM_WORDS, LogHistogram } from "./log-histogram.ts";
import { PER_US } from "../../../metering/task-timings.ts";

/** Start data of the feature. */
export interface ObserveData {
  /** Memory for `metrics: true`. */
  readonly metrics: SharedArrayBuffer | undefined;
  /** When the pool was created, on the shared clock, if the worker prints its waits (`debug`). */
  readonly printsWaitsFromMs: number | undefined;
  /** The URL of the module of the option `context`. */
  readonly context: string | undefined;
  /** What the host does with the output of the worker. Undefined: the worker prints it. */
  readonly output: "take" | "ignore" | undefined;
}

const SLOTS = 4096;
const STAMP_WORDS = 3;
const MADE = 0;
const BEGUN = 1;
const RUN = 2;
const STAMP_BYTES: number = 8 * STAMP_WORDS;
const TASK_BYTES: number = 2 * 8 * HISTOGRAM_WORDS;

/** Clocks may not see that time has passed. */
const MIN_RUN_MS = 1e-6;
const TENTHS_PER_MS: number = 1000 * PER_US;

export function callMetricsBytes(tasks: number): number {
  return SLOTS * STAMP_BYTES + tasks * TASK_BYTES;
}

function stampsOf(buffer: SharedArrayBuffer): Float64Array<SharedArrayBuffer> {
  return new Float64Array(buffer, 0, SLOTS * STAMP_WORDS);
}

export interface TaskHistograms {
  readonly wait: LogHistogram;
  readonly run: LogHistogram;
}

/** The histograms of a task. */
export function histogramsOf(buffer: SharedArrayBuffer, task: number): TaskHistograms {
  const byte = SLOTS * STAMP_BYTES + task * TASK_BYTES;
  return {
    wait: new LogHistogram(buffer, byte),
    run: new LogHistogram(buffer, byte + TASK_BYTES / 2),
  };
}

/** Times of one call, in milliseconds. */
export interface CallTimes {
  readonly waitMs: number | undefined;
  readonly runMs: number | undefined;
}

/** The host's side. */
export class CallStamps {
  /** Whether the times of the calls that are made now are wanted. */
  isWanted = false;
  readonly buffer: SharedArrayBuffer;
  readonly #stamps: Float64Array<SharedArrayBuffer>;
  readonly #now: () => number;
  readonly #soon: (callback: () => void) => void;
  /** Calls are made in another go from now on. */
  readonly forget = (): void => void (this.#nowMs = 0);
  /** The time of the calls that are made in one go: the clock is read once for them. */
  #nowMs = 0;

  constructor(
    buffer: SharedArrayBuffer,
    now: () => number,
    soon: (callback: () => void) => void,
  ) {
    this.buffer = buffer;
    this.#stamps = stampsOf(buffer);
    this.#now = now;
    this.#soon = soon;
  }

  /** The host blocks, so no microtask runs between the calls. */
  onBlock(): void {
    this.forget();
  }

  /** A call was made and is not published yet. */
  made(slot: number): void {
    if (slot >= SLOTS) return;
    if (this.#nowMs === 0) {
      this.#nowMs = this.#now();
      this.#soon(this.forget);
    }
    const at = slot * STAMP_WORDS;
    const stamps = this.#stamps;
    stamps[at + MADE] = this.isWanted ? -this.#nowMs : this.#nowMs;
    if (this.isWanted) stamps[at + BEGUN] = stamps[at + RUN] = 0;
  }

  /** The times of a call that was made while they were wanted, as far as they are known. */
  timesOf(slot: number): CallTimes {
    const at = slot * STAMP_WORDS;
    const begun = slot < SLOTS ? this.#stamps[at + BEGUN]! : 0;
    if (begun === 0) return { waitMs: undefined, runMs: undefined };
    return {
      waitMs: Math.max(0, begun + this.#stamps[at + MADE]!),
      runMs: this.#stamps[at + RUN]! || undefined,
    };
  }
}

/**
 * A worker's side. Of the calls of a task, those are measured that the task timings measure (task-timings.ts). Each stands for
 * the calls since the last measured one.
 */
export class CallMeter {
  readonly #stamps: Float64Array<SharedArrayBuffer>;
  readonly #histograms: readonly TaskHistograms[];
  readonly #tasks: number;
  readonly #now: () => number;
  /** By task: calls begun since the last one whose wait, or run, was added. */
  readonly #waits: Float64Array;
  readonly #runs: Float64Array;

  /** `tasks`: number of tasks without their variants. `now`: the shared clock. */
  constructor(buffer: SharedArrayBuffer, tasks: number, now: () => number) {
    this.#stamps = stampsOf(buffer);
    this.#histograms = Array.from({ length: tasks }, (_, task) => histogramsOf(buffer, task));
    this.#tasks = tasks;
    this.#now = now;
    this.#waits = new Float64Array(tasks);
    this.#runs = new Float64Array(tasks);
  }

  /** A call begins. */
  begin(index: number, slot: number, isMeasured: boolean): void {
    const task = index % this.#tasks;
    const isOfTask = index < OBJECT * this.#tasks;
    if (isOfTask) {
      this.#waits[task]!++;
      this.#runs[task]!++;
    }
    const made = slot < SLOTS ? this.#stamps[slot * STAMP_WORDS + MADE]! : 0;
    if (made >= 0 && (!isMeasured || made === 0)) return;
    const nowMs = this.#now();
    if (made < 0) this.#stamps[slot * STAMP_WORDS + BEGUN] = nowMs;
    if (!isMeasured || !isOfTask) return;
    this.#histograms[task]!.wait.add((nowMs - Math.abs(made)) * TENTHS_PER_MS, this.#waits[task]!);
    this.#waits[task] = 0;
  }

  /** A measured call has ended, after so many tenths of a microsecond. */
  ended(index: number, tenths: number): void {
    if (index >= OBJECT * this.#tasks) return;
    const task = index % this.#tasks;
    this.#histograms[task]!.run.add(tenths, Math.max(1, this.#runs[task]!));
    this.#runs[task] = 0;
  }

  /** The response of a call is about to be sent. */
  responding(slot: number): void {
    if (slot >= SLOTS) return;
    const at = slot * STAMP_WORDS;
    const stamps = this.#stamps;
    if (stamps[at + MADE]! < 0) {
      stamps[at + RUN] = Math.max(this.#now() - stamps[at + BEGUN]!, MIN_RUN_MS);
    }
  }
}
