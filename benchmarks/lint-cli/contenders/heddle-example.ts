/** heddle, as in the example: batches, whose files are called one by one if their worker ends. */
import { createLintPool, lint } from "../../../examples/lint-cli/lint.ts";
import type { Problem } from "../../../examples/lint-cli/rules.ts";
import type { Linter } from "./types.ts";

export function start(): Linter {
  const pool = createLintPool();
  return {
    lint: async (paths) => {
      const found: (readonly Problem[])[] = [];
      for await (const [path, outcome] of lint(pool, paths, new AbortController())) {
        if (outcome.kind !== "checked") throw new Error(`${path} was not checked.`);
        found.push(outcome.problems);
      }
      return found;
    },
    close: () => pool.shutdown(),
  };
}
