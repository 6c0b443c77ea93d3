/**
 * `node benchmarks/lint-cli/run.ts [--options] [--sizes 50,500,5000] [--rounds 7]`: the linter of `examples/lint-cli` without workers,
 * with a pool by hand, and with libraries; with `--options` options of heddle. Each run is a fresh process; contenders take turns.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median } from "simple-statistics";
import { generate } from "../../examples/lint-cli/samples.ts";
import { NODE } from "../harness/processes.ts";
import { table } from "../harness/markdown-table.ts";
import { LIBRARIES, OPTIONS } from "./contenders.ts";

interface Sample {
  readonly wallMs: number;
  /** User code and kernel, of child processes too. */
  readonly cpuMs: number;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** bash's `time` counts the processes that the program has waited for as well. */
const TIMED = 'TIMEFORMAT="%3R %3U %3S"; time "$@"';

function measure(name: string, folder: string, expected: string): Sample {
  const { stdout, stderr } = spawnSync(
    "bash",
    ["-c", TIMED, "bash", NODE, here("./program.ts"), name, folder],
    { encoding: "utf8" },
  );
  if (stdout.trim() !== expected) throw new Error(`${name}: ${stdout}${stderr}`);
  const [wall = 0, user = 0, system = 0] = stderr.trim().split("\n").at(-1)!.split(" ").map(Number);
  return { wallMs: wall * 1000, cpuMs: (user + system) * 1000 };
}

/** Lines that are neither empty nor comments. */
function linesOf(files: readonly string[]): string {
  const lines = files.flatMap((file) =>
    readFileSync(here(`./contenders/${file}`), "utf8").split("\n")
  );
  const count = lines.filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length;
  return count === 0 ? "–" : String(count);
}

const { values } = parseArgs({
  options: {
    options: { type: "boolean", default: false },
    sizes: { type: "string", default: "50,500,5000" },
    rounds: { type: "string", default: "7" },
    only: { type: "string", default: "" },
  },
});
const all = Object.entries(values.options ? OPTIONS : LIBRARIES);
const contenders = all.filter(([name]) =>
  values.only === "" || values.only.split("|").includes(name)
);

for (const size of values.sizes.split(",").map(Number)) {
  const folder = mkdtempSync(join(tmpdir(), "heddle-lint-"));
  const samples = new Map(contenders.map(([name]) => [name, [] as Sample[]]));
  const loads: number[] = [];
  try {
    generate(size, folder);
    const expected = `${size} files, ${Math.ceil((size - 3) / 10)} problems`;
    for (const [name] of contenders) measure(name, folder, expected); // the files are in memory now
    for (let round = 0; round < Number(values.rounds); round++) {
      loads.push(loadavg()[0]!);
      for (const [name, found] of samples) found.push(measure(name, folder, expected));
      process.stderr.write(".");
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const figures = contenders.map(([name, { files }]) => {
    const found = samples.get(name)!;
    const wall = median(found.map(({ wallMs }) => wallMs));
    return { name, files, wall, cpu: median(found.map(({ cpuMs }) => cpuMs)) };
  });
  const best = {
    wall: Math.min(...figures.map(({ wall }) => wall)),
    cpu: Math.min(...figures.map(({ cpu }) => cpu)),
  };
  const rows = figures.map(({ name, files, wall, cpu }) => [
    name,
    linesOf(files),
    wall.toFixed(0),
    (wall / best.wall).toFixed(2),
    cpu.toFixed(0),
    (cpu / best.cpu).toFixed(2),
  ]);
  console.log(
    `\n${size} files, medians of ${values.rounds} rounds, load ${median(loads).toFixed(1)}\n`,
  );
  const header = ["", "lines", "wall ms", "of best", "processor ms", "of best"];
  console.log(table(header, rows).join("\n"));
}
