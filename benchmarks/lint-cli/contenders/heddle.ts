/** heddle, a call for each file. */
import { availableParallelism } from "node:os";
import { createPool, type PoolOptions } from "heddle";
import type { Linter } from "./types.ts";

const tasks = new URL("../../../examples/lint-cli/check-file.ts", import.meta.url);

export function start(options: PoolOptions = { threads: availableParallelism() }): Linter {
  const pool = createPool(options)<typeof import("../../../examples/lint-cli/check-file.ts")>(
    tasks,
  );
  return {
    lint: (paths) => Promise.all(paths.map((path) => pool.call.checkFile(path))),
    close: () => pool.shutdown(),
  };
}
