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
const imported = (options: PoolOptions): Contender => ({
  files: [],
  start: async () => (await import("./contenders/heddle-otherwise.ts")).startImported(options),
});
const heddleMap = (options?: { readonly chunk: number }): Contender => ({
  files: [],
  start: async () => (await import("./contenders/heddle-otherwise.ts")).startMap(options),
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
  "heddle, as the example": {
    files: ["../../../examples/lint-cli/lint.ts", "../../../examples/lint-cli/tasks.ts"],
    start: async () => (await import("./contenders/heddle-example.ts")).start(),
  },
  "heddle, a call for each file": { ...heddle({ threads: cores }), files: ["heddle.ts"] },
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
  "default (threads: cores - 1)": heddle({}),
  "minThreads: 1, maxThreads: cores": heddle({ minThreads: 1, maxThreads: cores }),
  "threads: cores, spinMs: 0": heddle({ threads: cores, spinMs: 0 }),
  "threads: cores, fifo": heddle({ threads: cores, balancer: "fifo" }),
  "threads: cores, imported": imported({ threads: cores }),
  "default, inliner, imported": imported({ inliner: true }),
  "threads: cores, inliner, imported": imported({ threads: cores, inliner: true }),
  "threads: cores, map, imported": heddleMap(),
  "threads: cores, map, chunk: 8, imported": heddleMap({ chunk: 8 }),
};
