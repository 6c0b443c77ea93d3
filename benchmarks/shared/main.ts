/**
 * `npm run bench:shared`: what shared maps, channels and mutexes cost beside what they replace, in one run: a hot call, a `Map` of one thread, and
 * channels and mutexes of Go and Rust where their compilers are. Everything in turn, ROUNDS times; medians.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMain } from "../../dist/mod.js";
import { channel, Mutex, SharedMap } from "../../dist/shared.js";
import { createBenchmarkPool, person } from "./tasks.ts";

const ROUNDS = 9;
const folder = fileURLToPath(new URL("./", import.meta.url));

type Measure = () => Promise<number> | number;

/** Programs of other languages: each prints `name nanoseconds` lines for one round. */
function buildOthers(target: string): (() => Record<string, number>)[] {
  const commands = [
    ["go", "build", "-o", join(target, "go-program"), join(folder, "channels.go")],
    [
      "rustc",
      "-O",
      "--edition",
      "2021",
      "-o",
      join(target, "rust-program"),
      join(folder, "channels.rs"),
    ],
  ] as const;
  return commands.flatMap(([file, ...args]) => {
    const { status, stderr } = spawnSync(file, args, { encoding: "utf8" });
    if (status !== 0) {
      console.error(`without ${file}: ${stderr ?? "it is not installed"}`);
      return [];
    }
    const program = join(target, `${file === "go" ? "go" : "rust"}-program`);
    return [() => {
      const { stdout } = spawnSync(program, { encoding: "utf8" });
      const lines = stdout.trim().split("\n").map((line) => line.split("\t"));
      return Object.fromEntries(lines.map(([name, ns]) => [name!, Number(ns)]));
    }];
  });
}

async function main(): Promise<void> {
  const pool = createBenchmarkPool(2);
  const one = createBenchmarkPool(1);
  const map = new SharedMap<string, unknown>();
  map.set("number", 1.5).set("object", person);
  const mutex = new Mutex();
  const [senders, receivers] = channel<unknown>({ capacity: 1024 });
  const pass = async (value: unknown, count: number): Promise<number> => {
    const received = pool.call.receive([receivers, count]);
    await pool.call.send([senders, value, count]);
    return await received;
  };
  const hotCall = async (value: unknown): Promise<number> => {
    const startMs = performance.now();
    for (let n = 0; n < 2000; n++) await one.call.echo(value);
    return ((performance.now() - startMs) * 1e6) / 2000;
  };
  const measures: Record<string, Measure> = {
    "map: get a number": () => one.call.get([map, "number", 200_000]),
    "map: get an object of 200 B": () => one.call.get([map, "object", 20_000]),
    "map: set a number": () => one.call.set([map, "other", 2.5, 50_000]),
    "map: set an object of 200 B": () => one.call.set([map, "else", person, 10_000]),
    "Map of one thread: get": () => one.call.getOfMap([person, 1_000_000]),
    "structuredClone of the object": () => one.call.cloneOf([person, 10_000]),
    "hot call with a number": () => hotCall(1.5),
    "hot call with the object": () => hotCall(person),
    "channel, worker to worker: a number": () => pass(1.5, 200_000),
    "channel, worker to worker: the object": () => pass(person, 20_000),
    "mutex, uncontended": () => one.call.lock([mutex, 100_000]),
    "mutex, two workers": async () => {
      const both = await Promise.all([0, 1].map(() => pool.call.lock([mutex, 50_000])));
      return Math.max(...both) / 2;
    },
  };
  const target = mkdtempSync(join(tmpdir(), "heddle-bench-shared-"));
  const others = buildOthers(target);
  const samples: Record<string, number[]> = {};
  const note = (name: string, ns: number): void => void (samples[name] ??= []).push(ns);
  for (const measure of Object.values(measures)) await measure(); // engines compile
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, measure] of Object.entries(measures)) note(name, await measure());
    for (const other of others) for (const [name, ns] of Object.entries(other())) note(name, ns);
  }
  rmSync(target, { recursive: true });
  await Promise.all([pool.shutdown(), one.shutdown()]);
  console.log(`| ns for each, on ${availableParallelism()} cores | Median | Least | Most |`);
  console.log("| --- | ---: | ---: | ---: |");
  for (const [name, values] of Object.entries(samples)) {
    const sorted = values.sort((a, b) => a - b);
    const cells = [sorted[ROUNDS >> 1]!, sorted[0]!, sorted.at(-1)!].map((ns) => ns.toFixed(0));
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
}

if (isMain) await main();
