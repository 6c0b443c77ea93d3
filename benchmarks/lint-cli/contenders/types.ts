import type { Problem } from "../../../examples/lint-cli/rules.ts";

/** A linter with its workers, if it has any. */
export interface Linter {
  /** The problems of each file, in the order of the files. */
  lint(paths: readonly string[]): Promise<readonly (readonly Problem[])[]>;
  close(): unknown;
}
