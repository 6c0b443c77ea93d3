/** `node main.ts [--progress] [--threads N] [PATH…]`: lints files and folders; without a path, files that it makes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { isMain, shutdownOnSignals } from "heddle";
import { findFiles } from "./files.ts";
import { createLintPool, lint } from "./lint.ts";
import { noProgress, showProgress } from "./progress.ts";
import { linesOf, Summary } from "./report.ts";
import { generate } from "./samples.ts";

const DEMO_FILES = 40;

interface Options {
  readonly threads: number | undefined;
  readonly hasProgress: boolean;
  /** How a file is called in the output. */
  readonly nameOf: (path: string) => string;
}

/** Lints and reports. Resolves with the exit code when no worker is left. */
async function run(paths: readonly string[], options: Options): Promise<number> {
  const pool = createLintPool(options.threads); // first: its workers start while the files are looked for
  const files = findFiles(paths);
  const stop = new AbortController();
  const summary = new Summary();
  const progress = options.hasProgress ? showProgress(files.length) : noProgress;

  const report = async (): Promise<void> => {
    const outcomes = lint(pool, files, { signal: stop.signal, onFiles: progress.step });
    try {
      for await (const [path, outcome] of outcomes) {
        summary.add(outcome);
        const lines = linesOf(options.nameOf(path), outcome);
        if (lines.length === 0) continue;
        progress.clear();
        console.log(lines.join("\n"));
      }
    } finally {
      progress.clear();
      console.log(summary.lines.join("\n"));
    }
  };

  const reported = report();
  // At Ctrl-C the abort ends all calls at once. heddle waits for the report and for the workers, then ends the process with 130.
  const ignoreSignals = shutdownOnSignals(pool, {
    before: () => {
      stop.abort();
      return reported;
    },
  });
  await reported;
  await pool.shutdown();
  ignoreSignals();
  return summary.exitCode;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { progress: { type: "boolean" }, threads: { type: "string" } },
  });
  const options = {
    threads: values.threads === undefined ? undefined : Number(values.threads),
    hasProgress: values.progress ?? process.stderr.isTTY === true,
  };
  if (positionals.length > 0) return await run(positionals, { ...options, nameOf: (path) => path });
  const folder = mkdtempSync(join(tmpdir(), "heddle-lint-"));
  process.on("exit", () => rmSync(folder, { recursive: true })); // at Ctrl-C too
  generate(DEMO_FILES, folder);
  return await run([folder], { ...options, nameOf: (path) => relative(folder, path) });
}

// In a bundle workers load this file too.
if (isMain) {
  main().then((code) => process.exitCode = code, (error: unknown) => {
    console.error(String(error));
    process.exitCode = 2;
  });
}
