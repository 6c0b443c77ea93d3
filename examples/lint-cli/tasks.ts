/**
 * What workers do. They read the files, so only paths and problems travel. The task is declared, so that workers find it in a
 * bundle as well.
 */
import { task } from "heddle/task";
import { checkFile } from "./check-file.ts";
import type { Problem } from "./rules.ts";

export type Checked =
  | { readonly kind: "checked"; readonly problems: readonly Problem[] }
  /** The linter failed: a rule has thrown, or ended its worker. */
  | { readonly kind: "crashed"; readonly reason: string };

function checkOne(path: string): Checked {
  try {
    return { kind: "checked", problems: checkFile(path) };
  } catch (error) {
    return { kind: "crashed", reason: String(error) };
  }
}

export const lintFiles = task({ f: (paths: readonly string[]): Checked[] => paths.map(checkOne) });
