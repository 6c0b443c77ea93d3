/**
 * How many functions one call runs, on the host and in the worker: `npm run bench:counts` prints a table; with `--list`,
 * each function. A count does not depend on how busy the machine is, so it decides where clocks cannot. Node only: the
 * counts are V8's precise coverage.
 */
import { type Profiler, Session } from "node:inspector/promises";
import process from "node:process";
import { isMainThread } from "node:worker_threads";
import { createPool, isMain } from "../dist/mod.js";

/** Calls that are counted, and calls before them. */
const INFREQUENT = { calls: 100, warmUp: 20 };
const FREQUENT = { calls: 5000, warmUp: 3000 };

interface Way {
  readonly name: string;
  /** Calls at once; undefined: one after another, every 10 ms. */
  readonly atOnce: number | undefined;
  readonly value: unknown;
}

const WAYS: readonly Way[] = [
  { name: "a number every 10 ms", atOnce: undefined, value: 1 },
  { name: "100 numbers at once", atOnce: 100, value: 1 },
  { name: "100 objects at once", atOnce: 100, value: { a: 1, b: "x" } },
];

const PAUSE_MS = 10;

type Scripts = readonly Profiler.ScriptCoverage[];

async function startCounting(): Promise<Session> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  return session;
}

/** The counts since the last time. */
async function takeCounts(session: Session): Promise<Scripts> {
  return (await session.post("Profiler.takePreciseCoverage")).result;
}

let inWorker: Session | undefined;
export const echo = (value: unknown): unknown => value;
export const begin = async (): Promise<void> => {
  inWorker = await startCounting();
};
export const end = async (): Promise<string> => JSON.stringify(await takeCounts(inWorker!));

interface Count {
  readonly name: string;
  readonly file: string;
  readonly isOwn: boolean;
  readonly perCall: number;
}

function countsOf(scripts: Scripts, calls: number): Count[] {
  return scripts.filter(({ url }) => url !== import.meta.url).flatMap(({ url, functions }) => {
    const file = url.split("/").at(-1)!;
    // Node's own scripts have names without a scheme in some versions. Compiled code has no name.
    const isOwn = url === "" || (!url.startsWith("node:") && /\.[cm]?[jt]s$/.test(file));
    return functions.map(({ functionName, ranges }) => ({
      name: functionName || "(anonymous)",
      file,
      isOwn,
      perCall: ranges[0]!.count / calls,
    }));
  });
}

function report(way: string, side: string, counts: readonly Count[], isListed: boolean): void {
  const sum = (matches: (count: Count) => boolean): string =>
    counts.filter(matches).reduce((all, { perCall }) => all + perCall, 0).toFixed(1).padStart(7);
  const own = sum(({ isOwn }) => isOwn);
  const runtime = sum(({ isOwn }) => !isOwn);
  const immediates = sum(({ name }) => name === "Immediate");
  console.log(`${way.padEnd(22)} ${side.padEnd(7)} ${own} ${runtime} ${immediates}`);
  if (!isListed) return;
  for (const { name, file, perCall } of counts.toSorted((a, b) => b.perCall - a.perCall)) {
    if (perCall >= 0.5) console.log(`  ${perCall.toFixed(1).padStart(6)} ${name} ${file}`);
  }
}

async function measure({ name, atOnce, value }: Way, isListed: boolean): Promise<void> {
  const pool = createPool({ threads: 1 })({ echo, begin, end });
  const make = async (count: number): Promise<void> => {
    for (let made = 0; made < count; made += atOnce ?? 1) {
      if (atOnce === undefined) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        await pool.call.echo(value);
      } else await Promise.all(Array.from({ length: atOnce }, () => pool.call.echo(value)));
    }
  };
  const { calls, warmUp } = atOnce === undefined ? INFREQUENT : FREQUENT;
  await make(warmUp);
  await pool.call.begin();
  const session = await startCounting();
  await make(warmUp); // the code has to run again once it is counted
  await pool.call.end();
  await takeCounts(session);
  await make(calls);
  const host = await takeCounts(session);
  const worker = JSON.parse(await pool.call.end()) as Scripts;
  session.disconnect();
  report(name, "host", countsOf(host, calls), isListed);
  report(name, "worker", countsOf(worker, calls), isListed);
  await pool.shutdown();
}

if (isMain && isMainThread) {
  console.log(`${"functions per call".padEnd(30)}  heddle    Node immediates`);
  for (const way of WAYS) await measure(way, process.argv.includes("--list"));
}
