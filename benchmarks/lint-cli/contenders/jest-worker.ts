/** jest-worker, a call for each file, with threads or processes. */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "jest-worker";
import type { checkFile } from "../../../examples/lint-cli/check-file.ts";
import type { Linter } from "./types.ts";

const tasks = fileURLToPath(new URL("../../../examples/lint-cli/check-file.ts", import.meta.url));

export function start(enableWorkerThreads: boolean): Linter {
  const pool = new Worker(tasks, {
    numWorkers: availableParallelism(),
    enableWorkerThreads,
    exposedMethods: ["checkFile"],
  }) as Worker & { checkFile(path: string): Promise<ReturnType<typeof checkFile>> };
  return {
    lint: (paths) => Promise.all(paths.map((path) => pool.checkFile(path))),
    close: () => pool.end(),
  };
}
