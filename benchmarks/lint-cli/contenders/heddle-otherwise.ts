/** heddle with `pool.map`, and with the task imported by the host, which may run it then. */
import { availableParallelism } from "node:os";
import { createPool, type MapOptions, type PoolOptions } from "heddle";
import { checkFile } from "../../../examples/lint-cli/check-file.ts";
import type { Linter } from "./types.ts";

const moduleUrl = new URL("../../../examples/lint-cli/check-file.ts", import.meta.url);

export function startImported(options: PoolOptions): Linter {
  const pool = createPool({ ...options, moduleUrl })({ checkFile });
  return {
    lint: (paths) => Promise.all(paths.map((path) => pool.call.checkFile(path))),
    close: () => pool.shutdown(),
  };
}

export function startMap(mapOptions?: Omit<MapOptions, "args">): Linter {
  const pool = createPool({ threads: availableParallelism(), moduleUrl })({ checkFile });
  return {
    lint: async (paths) => await pool.map(pool.call.checkFile, paths, mapOptions),
    close: () => pool.shutdown(),
  };
}
