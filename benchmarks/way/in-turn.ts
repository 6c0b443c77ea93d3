/**
 * `npm run bench:turns -- COMMIT`: the working copy against a commit, both loaded in one process and measured in turn, in
 * blocks of 5 ms. A slow moment of the machine hits both, so this gives a verdict where fresh processes (`bench:ab`) give
 * none. Prints, for each runtime and case, µs per call of both and the ratio new / old: the median of the pairs, their
 * quartiles, and the ratio of the means, in which the tail counts.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread } from "node:worker_threads";
import { build, buildCommit, resolveCommit } from "../ab/builds.ts";
import { RUNTIMES } from "../runner/runtimes.ts";
import { PERSON } from "../scenarios/hot-cases.ts";

export const echo = (value: unknown): unknown => value;

const BLOCK_MS = 5;
const WARM_UP_BLOCKS = 60;

/** Calls at once, and their argument. */
const CASES: Readonly<Record<string, readonly [atOnce: number, value: unknown]>> = {
  "f64 × 1": [1, 1.5],
  "f64 × 10": [10, 1.5],
  "f64 × 100": [100, 1.5],
  "f64 × 1000": [1000, 1.5],
  "text × 100": [100, "hello world"],
  "object × 1": [1, PERSON],
  "object × 100": [100, PERSON],
};

interface Calls {
  readonly call: { readonly echo: (value: unknown) => Promise<unknown> };
}

/** A pool of one worker, of the build at this path. */
async function load(path: string): Promise<Calls> {
  const { createPool } = await import(pathToFileURL(path).href) as {
    createPool: (options: object) => (tasks: object) => Calls;
  };
  const pool = createPool({ threads: 1 })({ echo });
  await pool.call.echo(1);
  return pool;
}

/** Makes calls for one block. Returns µs per call. */
async function block({ call }: Calls, atOnce: number, value: unknown): Promise<number> {
  const begin = performance.now();
  const end = begin + BLOCK_MS;
  let calls = 0;
  do {
    if (atOnce === 1) await call.echo(value);
    else await Promise.all(Array.from({ length: atOnce }, () => call.echo(value)));
    calls += atOnce;
  } while (performance.now() < end);
  return (performance.now() - begin) * 1e3 / calls;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
}

async function compare(old: string, now: string, blocks: number): Promise<void> {
  const builds = [await load(old), await load(now)] as const;
  for (const [name, [atOnce, value]] of Object.entries(CASES)) {
    const times: [number[], number[]] = [[], []];
    for (let round = -WARM_UP_BLOCKS; round < blocks; round++) {
      for (const turn of [0, 1]) {
        const each = (turn + round) & 1;
        const us = await block(builds[each]!, atOnce, value);
        if (round >= 0) times[each]!.push(us);
      }
    }
    const ratios = times[1].map((us, round) => us / times[0][round]!);
    const mean = (all: readonly number[]): number => all.reduce((sum, us) => sum + us, 0);
    const show = (value: number): string => value.toFixed(2);
    console.log(
      `${name.padEnd(13)} ${times.map((all) => quantile(all, 0.5).toFixed(3)).join(" -> ")} µs  ` +
        `${show(quantile(ratios, 0.5))} [${show(quantile(ratios, 0.25))} ${
          show(quantile(ratios, 0.75))
        }]  mean ${show(mean(times[1]) / mean(times[0]))}`,
    );
  }
  process.exit(0);
}

function compareOnAll(commit: string, runtimes: readonly string[], blocks: string): void {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const old = `${buildCommit(root, resolveCommit(root, commit))}/dist/mod.js`;
  build(root, "--no-dts");
  for (const runtime of runtimes) {
    console.log(`${runtime}, ${commit} -> working copy`);
    const [file = "", ...args] = RUNTIMES[runtime]!.command;
    const own = fileURLToPath(import.meta.url);
    const now = `${root}dist/mod.js`;
    spawnSync(file, [...args, own, `--old=${old}`, `--new=${now}`, `--blocks=${blocks}`], {
      stdio: "inherit",
    });
  }
}

if (isMainThread) {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      old: { type: "string" },
      new: { type: "string" },
      blocks: { type: "string", default: "120" },
      runtime: { type: "string", default: "node,deno,bun" },
    },
  });
  const { old, new: now, blocks, runtime } = values;
  if (old !== undefined && now !== undefined) await compare(old, now, Number(blocks));
  else if (positionals.length === 1) compareOnAll(positionals[0]!, runtime.split(","), blocks);
  else throw new Error("npm run bench:turns -- COMMIT [--runtime node,deno,bun] [--blocks N]");
}
