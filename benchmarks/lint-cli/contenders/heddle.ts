/** heddle, a call for each file as in the example, or otherwise. */
import { availableParallelism } from "node:os";
import { createPool, type PoolOptions } from "heddle";
import type { MapOptions } from "heddle";
import { lintFile } from "../../../examples/lint-cli/tasks.ts";
import type { Linter } from "./types.ts";

export function start(options: PoolOptions = { threads: availableParallelism() }): Linter {
  const pool = createPool(options)({ lintFile });
  return {
    lint: (paths) => Promise.all(paths.map((path) => pool.call.lintFile(path))),
    close: () => pool.shutdown(),
  };
}

export function startMap(mapOptions?: Omit<MapOptions, "args">): Linter {
  const pool = createPool({ threads: availableParallelism() })({ lintFile });
  return {
    lint: async (paths) => await pool.map(pool.call.lintFile, paths, mapOptions),
    close: () => pool.shutdown(),
  };
}
