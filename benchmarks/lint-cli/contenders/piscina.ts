/** Piscina, a task for each file. */
import { availableParallelism } from "node:os";
import { Piscina } from "piscina";
import type { Linter } from "./types.ts";

export function start(): Linter {
  const threads = availableParallelism();
  const pool = new Piscina({
    filename: new URL("../../../examples/lint-cli/check-file.ts", import.meta.url).href,
    name: "checkFile",
    minThreads: threads,
    maxThreads: threads,
  });
  return {
    lint: (paths) => Promise.all(paths.map((path) => pool.run(path))),
    close: () => pool.destroy(),
  };
}
