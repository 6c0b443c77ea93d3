/**
 * Whether the machine had something else to do while a scenario was measured: a fixed piece of work on
 * every core at once, before and after, against the quickest of the whole run so far. Virtual machines
 * whose host is busy show up as well.
 */
import os from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { ScenarioResult } from "../harness/schema.ts";
import { round } from "../harness/statistics.ts";

const MARK = "heddle-benchmark-reference-spin";
/** Some 30 ms on a core of 2026. */
const STEPS = 20_000_000;
/** The quickest of so many counts: single interruptions are no load. */
const TRIES = 5;
/** How long a reference stands for what comes next. */
const FRESH_MS = 1000;
/** This much slower than the quickest of the run is called busy. */
const BUSY_RATIO = 1.25;

/** Integer work that depends on every step before. */
function spin(): number {
  let state = 1;
  for (let step = 0; step < STEPS; step++) state = Math.imul(state, 1_664_525) + 1_013_904_223 | 0;
  return state;
}

export class ReferenceSpin {
  readonly #workers: Worker[] = [];
  #leastMs = Infinity;
  #lastMs = Infinity;
  #measuredAt = -Infinity;

  /** Starts a thread per core, and takes the first reference. */
  static async start(): Promise<ReferenceSpin> {
    const reference = new ReferenceSpin();
    for (let core = 0; core < os.availableParallelism(); core++) {
      const worker = new Worker(new URL(import.meta.url), { workerData: MARK });
      reference.#workers.push(worker);
      await new Promise((resolve) => worker.once("online", resolve));
    }
    await reference.#measure(); // compiles it
    await reference.measure();
    return reference;
  }

  /** Milliseconds of the work on all cores at once. */
  async measure(): Promise<number> {
    this.#lastMs = await this.#measure();
    this.#measuredAt = performance.now();
    this.#leastMs = Math.min(this.#leastMs, this.#lastMs);
    return this.#lastMs;
  }

  /** The same before a scenario: what was found just now, after another, is as good. */
  async measureBefore(): Promise<number> {
    return performance.now() - this.#measuredAt < FRESH_MS ? this.#lastMs : await this.measure();
  }

  /** What a result says about it. */
  describe(beforeMs: number, afterMs: number): NonNullable<ScenarioResult["reference"]> {
    return {
      beforeMs: round(beforeMs),
      afterMs: round(afterMs),
      leastMs: round(this.#leastMs),
      isBusy: Math.max(beforeMs, afterMs) > BUSY_RATIO * this.#leastMs,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  async #measure(): Promise<number> {
    let least = Infinity;
    for (let count = 0; count < TRIES; count++) {
      const startedAt = performance.now();
      await Promise.all(this.#workers.map((worker) => {
        const done = new Promise((resolve) => worker.once("message", resolve));
        worker.postMessage(null);
        return done;
      }));
      least = Math.min(least, performance.now() - startedAt);
    }
    return least;
  }
}

if (!isMainThread && workerData === MARK) {
  const port = parentPort!;
  port.on("message", () => port.postMessage(spin()));
}
