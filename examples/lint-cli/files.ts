/** The files that the command line names. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const SOURCE = /\.[cm]?[jt]sx?$/;
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", "dist"]);

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!entry.name.startsWith(".") && !SKIPPED.has(entry.name)) yield* filesIn(path);
    } else if (SOURCE.test(entry.name)) yield path;
  }
}

/** Sources in these folders, and these files, each once and sorted by name. */
export function findFiles(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    if (!statSync(path).isDirectory()) found.add(path);
    else for (const file of filesIn(path)) found.add(file);
  }
  return [...found].sort();
}
