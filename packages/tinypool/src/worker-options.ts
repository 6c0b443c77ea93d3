/** The options of a pool as those of heddle's pool of one worker. */
import process from "node:process";
import type { PoolOptions, ResourceLimits } from "heddle";
import type { FilledOptions } from "./options.ts";
import type { WorkerStart } from "./protocol.ts";

/** Where the code of workers is, as a source and as a file of the build. */
export const workerUrl = (): URL =>
  new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

/** Deno and Bun have no flags for a thread, and no limits that end it. */
const hasThreadOptions = !("deno" in process.versions || "bun" in process.versions);

/** Time for a worker to end by itself, in milliseconds: a thread that has been told to ends at once unless it is in a loop. */
const TEARDOWN_MS = { worker_threads: 20, child_process: 1000 };

/** Tasks of one worker may wait for each other, so heddle sets them no limit. */
const MAX_CONCURRENCY = 2 ** 20;

const LIMITS = [
  "maxOldGenerationSizeMb",
  "maxYoungGenerationSizeMb",
  "codeRangeSizeMb",
  "stackSizeMb",
] as const;

const textsOf = (record: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(record)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );

function limitsOf({ resourceLimits = {} }: FilledOptions): ResourceLimits | undefined {
  const known = LIMITS.filter((name) => resourceLimits[name] !== undefined);
  if (known.length === 0) return undefined;
  return Object.fromEntries(known.map((name) => [name, resourceLimits[name]]));
}

/** The environment of a process is that of the options alone, as Tinypool has it. */
function environmentOf({ env }: FilledOptions, { runtime, workerId }: WorkerStart) {
  if (runtime === "worker_threads") return env == null ? {} : { env: textsOf(env) };
  return { env: { ...textsOf(env ?? {}), TINYPOOL_WORKER_ID: String(workerId) } };
}

export function poolOptions(options: FilledOptions, data: WorkerStart): PoolOptions {
  const { argv, execArgv, useAtomics } = options;
  const { runtime } = data;
  const isThread = runtime === "worker_threads";
  const resourceLimits = isThread && hasThreadOptions ? limitsOf(options) : undefined;
  return {
    threads: 1,
    maxConcurrency: MAX_CONCURRENCY,
    startTimeoutMs: Infinity,
    teardownTimeoutMs: TEARDOWN_MS[runtime],
    ...(!useAtomics && { spinMs: 0 }),
    ...(resourceLimits !== undefined && { resourceLimits }),
    ...(!isThread && { workers: "processes" }),
    worker: {
      name: "Tinypool",
      setup: workerUrl(),
      data,
      ...environmentOf(options, data),
      ...(argv != null && { argv: argv.map(String) }),
      ...(execArgv != null && (!isThread || hasThreadOptions) &&
        { execArgv: execArgv.map(String) }),
    },
  };
}
