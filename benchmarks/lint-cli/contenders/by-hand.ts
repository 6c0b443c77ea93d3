/**
 * A pool over worker_threads, written for this program. Workers start at once and get batches, two each, so that none waits for the
 * host. Batches are a part of what is left, so that all end together. If a worker dies, its files run again one by one; the one that
 * is alone when a worker dies is to blame.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Problem } from "../../../examples/lint-cli/rules.ts";
import type { Linter } from "./types.ts";

type Outcome = { readonly problems: readonly Problem[] } | { readonly error: unknown };
type Batch = readonly number[];

const MAX_BATCH = 16;
const BATCHES_IN_WORKER = 2;
const threads = availableParallelism();

class HandPool {
  readonly #workers = new Set<Worker>();
  readonly #batches = new Map<Worker, Batch[]>();
  #paths: readonly string[] = [];
  #next = 0;
  /** Files of workers that have died. */
  #suspects: number[] = [];
  #outcomes: Outcome[] = [];
  #left = 0;
  #onEnd = (): void => {};

  constructor() {
    for (let n = 0; n < threads; n++) this.#start();
  }

  run(paths: readonly string[]): Promise<Outcome[]> {
    this.#paths = paths;
    this.#left = paths.length;
    return new Promise((resolve) => {
      this.#onEnd = () => resolve(this.#outcomes);
      if (this.#left === 0) this.#onEnd();
      for (let n = 0; n < BATCHES_IN_WORKER; n++) {
        for (const worker of this.#workers) this.#feed(worker);
      }
    });
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) worker.removeAllListeners("exit");
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
  }

  #start(): void {
    const worker = new Worker(new URL("./by-hand-worker.ts", import.meta.url));
    this.#workers.add(worker);
    this.#batches.set(worker, []);
    worker.on("message", (outcomes: readonly Outcome[]) => {
      const batch = this.#batches.get(worker)!.shift()!;
      for (const [n, outcome] of outcomes.entries()) this.#settle(batch[n]!, outcome);
      this.#feed(worker);
    });
    worker.on("error", () => {}); // "exit" follows
    worker.on("exit", (code) => this.#replace(worker, code));
  }

  #feed(worker: Worker): void {
    const batches = this.#batches.get(worker)!;
    // A suspect is alone in its worker.
    if (batches.length > 0 && this.#suspects.length > 0) return;
    const batch = this.#suspects.length > 0 ? [this.#suspects.shift()!] : this.#take();
    if (batch.length === 0) return;
    batches.push(batch);
    worker.postMessage(batch.map((index) => this.#paths[index]));
  }

  #take(): Batch {
    const left = this.#paths.length - this.#next;
    const size = Math.min(MAX_BATCH, Math.ceil(left / (4 * threads)));
    const first = this.#next;
    this.#next += size;
    return Array.from({ length: size }, (_, n) => first + n);
  }

  #settle(index: number, outcome: Outcome): void {
    this.#outcomes[index] = outcome;
    if (--this.#left === 0) this.#onEnd();
  }

  #replace(worker: Worker, code: number): void {
    const lost = this.#batches.get(worker)!.flat();
    this.#workers.delete(worker);
    this.#batches.delete(worker);
    if (lost.length === 1) this.#settle(lost[0]!, { error: new Error(`exit code ${code}`) });
    else this.#suspects.push(...lost);
    this.#start();
    for (const each of this.#workers) this.#feed(each);
  }
}

export function start(): Linter {
  const pool = new HandPool();
  return {
    lint: async (paths) => {
      const outcomes = await pool.run(paths);
      return outcomes.map((outcome) => {
        if ("error" in outcome) throw outcome.error;
        return outcome.problems;
      });
    },
    close: () => pool.close(),
  };
}
