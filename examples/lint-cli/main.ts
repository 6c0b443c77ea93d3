/** `node main.ts [--progress] [--threads N] [PATH…]`: lints files and folders; without a path, files that it makes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { isMain, shutdownOnSignals } from "heddle";
import { findFiles } from "./files.ts";
import { createLintPool, lint, type Outcome } from "./lint.ts";
import { noProgress, showProgress } from "./progress.ts";
import { generate } from "./samples.ts";

const EXIT = { clean: 0, problems: 1, crash: 2, interrupted: 130 } as const;
const DEMO_FILES = 40;

/** What of an outcome goes to stdout, a line each. */
function linesOf(name: string, outcome: Outcome): string[] {
  if (outcome.kind === "skipped") return [];
  if (outcome.kind === "crashed") return [`${name}: crash: ${outcome.reason}`];
  return outcome.problems.map(({ line, column, severity, message, rule }) =>
    `${name}:${line}:${column}: ${severity}: ${message} (${rule})`
  );
}

/** Lints and reports; the exit code. */
async function run(
  paths: readonly string[],
  nameOf: (path: string) => string,
  { threads, isVisible }: { readonly threads: number | undefined; readonly isVisible: boolean },
): Promise<number> {
  const pool = createLintPool(threads); // first: its workers start while the files are looked for
  const files = findFiles(paths);
  const stop = new AbortController();
  const progress = isVisible ? showProgress(files.length) : noProgress;
  const counts = { checked: 0, crashed: 0, skipped: 0, errors: 0, warnings: 0 };

  const report = async (): Promise<void> => {
    for await (
      const [path, outcome] of lint(pool, files, { signal: stop.signal, onFile: progress.step })
    ) {
      counts[outcome.kind]++;
      const problems = outcome.kind === "checked" ? outcome.problems : [];
      const errors = problems.filter(({ severity }) => severity === "error").length;
      counts.errors += errors;
      counts.warnings += problems.length - errors;
      const lines = linesOf(nameOf(path), outcome);
      if (lines.length === 0) continue;
      progress.clear();
      console.log(lines.join("\n"));
    }
    progress.clear();
    const { checked, crashed, skipped, errors, warnings } = counts;
    console.log(`${checked} files checked: ${errors} errors, ${warnings} warnings`);
    if (crashed > 0) console.log(`${crashed} files crashed the linter`);
    if (skipped > 0) console.log(`interrupted: ${skipped} files not checked`);
  };

  // The abort ends calls at once; heddle ends the process, with 130, when the report is written and the workers are gone.
  const reported = report();
  const ignoreSignals = shutdownOnSignals(pool, {
    before: () => {
      stop.abort();
      return reported;
    },
  });
  await reported;
  if (stop.signal.aborted) return EXIT.interrupted;
  await pool.shutdown();
  ignoreSignals();
  if (counts.crashed > 0) return EXIT.crash;
  return counts.errors > 0 ? EXIT.problems : EXIT.clean;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { progress: { type: "boolean" }, threads: { type: "string" } },
  });
  const options = {
    threads: values.threads === undefined ? undefined : Number(values.threads),
    isVisible: values.progress ?? process.stderr.isTTY === true,
  };
  if (positionals.length > 0) {
    process.exitCode = await run(positionals, (path) => path, options);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "heddle-lint-"));
  try {
    generate(DEMO_FILES, folder);
    process.exitCode = await run([folder], (path) => relative(folder, path), options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// In a bundle workers load this file too.
if (isMain) void main();
