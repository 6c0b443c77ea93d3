/** Who takes part, by name. Modules are loaded when they are measured: their load is a part of the figure. */
import { availableParallelism } from "node:os";
import type { PoolOptions } from "heddle";
import type { Linter } from "./contenders/types.ts";

export interface Contender {
  /** Files of the part that is about workers, whose lines are counted. */
  readonly files: readonly string[];
  start(): Promise<Linter>;
}

const cores = availableParallelism();
const heddle = (options: PoolOptions): Contender => ({
  files: [],
  start: async () => (await import("./contenders/heddle.ts")).start(options),
});
const heddleMap = (options?: { readonly chunk: number }): Contender => ({
  files: [],
  start: async () => (await import("./contenders/heddle.ts")).startMap(options),
});
const jestWorker = (hasThreads: boolean): Contender => ({
  files: ["jest-worker.ts"],
  start: async () => (await import("./contenders/jest-worker.ts")).start(hasThreads),
});

export const LIBRARIES: Readonly<Record<string, Contender>> = {
  "no workers": {
    files: ["none.ts"],
    start: async () => (await import("./contenders/none.ts")).start(),
  },
  "by hand": {
    files: ["by-hand.ts", "by-hand-worker.ts"],
    start: async () => (await import("./contenders/by-hand.ts")).start(),
  },
  "heddle": { ...heddle({ threads: cores }), files: ["heddle.ts"] },
  "Piscina": {
    files: ["piscina.ts"],
    start: async () => (await import("./contenders/piscina.ts")).start(),
  },
  "jest-worker, threads": jestWorker(true),
  "jest-worker, processes": jestWorker(false),
};

/** Options of heddle against each other. */
export const OPTIONS: Readonly<Record<string, Contender>> = {
  "threads: cores": heddle({ threads: cores }),
  "default": heddle({}),
  "default, inliner": heddle({ inliner: true }),
  "threads: cores, inliner": heddle({ threads: cores, inliner: true }),
  "minThreads: 1, maxThreads: cores": heddle({ minThreads: 1, maxThreads: cores }),
  "threads: cores, spinMs: 0": heddle({ threads: cores, spinMs: 0 }),
  "threads: cores, fifo": heddle({ threads: cores, balancer: "fifo" }),
  "map": heddleMap(),
  "map, chunk: 8": heddleMap({ chunk: 8 }),
  "map, chunk: 32": heddleMap({ chunk: 32 }),
};
