/**
 * `node benchmarks/starts/run.ts [--rounds 15]`: what a program can do for its first answer, with a small module of tasks and with one
 * that loads 9 MB: compiled code on disk, and a pool that is created before the rest is loaded. Each run is a fresh process of Node 26;
 * contenders take turns. It loads the build.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median } from "simple-statistics";
import { table } from "../harness/markdown-table.ts";
import { NODE } from "../harness/processes.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });
const program = fileURLToPath(new URL("./program.mjs", import.meta.url));

interface Contender {
  readonly name: string;
  /** Whether the cache is empty at each start; undefined: there is none. */
  readonly isEmpty?: boolean;
  /** Whether the cache is that of the host's thread as well. */
  readonly isOfHost?: boolean;
  /** When the pool is created, in a program that loads TypeScript; "only": the program loads nothing but heddle. */
  readonly order?: "only" | "first" | "last";
}

const CACHES: readonly Contender[] = [
  { name: "no cache" },
  { name: "compileCache, empty", isEmpty: true },
  { name: "compileCache, filled", isEmpty: false },
  { name: "NODE_COMPILE_CACHE, filled", isEmpty: false, isOfHost: true },
];
const ORDERS: readonly Contender[] = [
  { name: "program of 9 MB, pool created last", order: "last" },
  { name: "program of 9 MB, pool created first", order: "first" },
];

const folders: string[] = [];
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "heddle-starts-"));
  folders.push(folder);
  return folder;
}

/** Milliseconds from the start of a process to its first answer, and of processor time. */
function start(
  tasks: string,
  { isEmpty, isOfHost = false, order = "only" }: Contender,
  filled: string,
): readonly number[] {
  const folder = isEmpty === undefined ? "" : isEmpty ? newFolder() : filled;
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  if (isOfHost) env["NODE_COMPILE_CACHE"] = folder;
  const { stdout, stderr } = spawnSync(NODE, [program, tasks, folder, order], {
    encoding: "utf8",
    env,
  });
  const figures = stdout.trim().split(" ").map(Number);
  if (figures.length !== 2 || figures.some(Number.isNaN)) throw new Error(stdout + stderr);
  return figures;
}

try {
  for (const tasks of ["./small-tasks.mjs", "./large-tasks.mjs"]) {
    const runs = [...CACHES, ...ORDERS]
      .map((contender) => ({
        contender,
        folder: newFolder(),
        samples: [] as (readonly number[])[],
      }));
    for (const { contender, folder } of runs) start(tasks, contender, folder); // fills the caches, and memory with files
    const loads: number[] = [];
    for (let round = 0; round < Number(values.rounds); round++) {
      loads.push(loadavg()[0]!);
      for (const { contender, folder, samples } of runs) {
        samples.push(start(tasks, contender, folder));
      }
      process.stderr.write(".");
    }
    const rows = runs.map(({ contender: { name }, samples }) => [
      name,
      ...[0, 1].map((at) => median(samples.map((sample) => sample[at]!)).toFixed(0)),
    ]);
    console.log(`\n${tasks}, medians of ${values.rounds}, load ${median(loads).toFixed(1)}\n`);
    console.log(table(["", "first answer, ms", "processor ms"], rows).join("\n"));
  }
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true });
}
