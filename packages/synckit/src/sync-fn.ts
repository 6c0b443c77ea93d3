/** Functions that run in workers and block their callers, and what makes a function of a worker. */
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import {
  DEFAULT_EXEC_ARGV,
  DEFAULT_GLOBAL_SHIMS,
  DEFAULT_GLOBAL_SHIMS_PRESET,
  DEFAULT_TIMEOUT,
  DEFAULT_TS_RUNNER,
} from "./constants.ts";
import { findShims, generateGlobals } from "./global-shims.ts";
import { REGISTER, type Register, type Reply, type WorkerSetup } from "./protocol.ts";
import { checkRunner, setupTsRunner, type WorkerScript } from "./ts-runner.ts";
import type { AnyFn, GlobalShim, Syncify, SynckitOptions } from "./types.ts";

type Core = typeof import("heddle/core");
type Tasks = Pick<typeof import("./worker.ts"), "run">;

const WORKER = new URL("./worker.js", import.meta.url);
/** On Deno and Bun threads have no flags. */
const takesExecArgv = !("Deno" in globalThis || "Bun" in globalThis);

/**
 * Loads heddle with the first worker: a script that imports this package for `runAsWorker` does not need it. By the `require` of the
 * runtime: that of Jest loads no ES modules.
 */
function loadHeddle() {
  const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);
  const { createPool } = require("heddle/core") as Core;
  const { sync } = require("heddle/features/sync") as typeof import("heddle/features/sync");
  const { values } = require("heddle/features/values") as typeof import("heddle/features/values");
  return { createPool, sync, values };
}

let heddle: ReturnType<typeof loadHeddle> | undefined;

function globalsOf(
  { workerPath, jsUseEsm, tsUseEsm }: WorkerScript,
  globalShims: GlobalShim[] | boolean,
): string {
  const wanted = globalShims === true ? DEFAULT_GLOBAL_SHIMS_PRESET : globalShims || [];
  const isModule = jsUseEsm || tsUseEsm;
  return generateGlobals(
    workerPath,
    findShims(workerPath, wanted),
    isModule ? "import" : "require",
  );
}

/** An error of heddle as synckit words it. What the function throws is in its reply. */
function translated(error: unknown, exitCode: Int32Array): unknown {
  const { code, message, cause } = error as Error & { readonly code: string };
  switch (code) {
    case "HEDDLE_TIMEOUT":
      return new Error("Internal error: Atomics.wait() failed: timed-out", { cause: error });
    case "HEDDLE_WORKER_LOST":
      return new Error(`Worker exited with code ${Atomics.load(exitCode, 0)}`, { cause: error });
    case "HEDDLE_WORKER_START":
      return cause ?? error;
    case "HEDDLE_DATA_CLONE":
      return new DOMException(message, "DataCloneError");
    default:
      return error;
  }
}

/** A pool of one worker for a script, and its function; `timeout`: of each call. */
function startPool(script: WorkerScript, globals: string, timeout: number | undefined) {
  const exitCode = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const isModule = script.jsUseEsm || script.tsUseEsm;
  const data: WorkerSetup = { path: script.workerPath, isModule, globals, exitCode };
  const execArgv = script.execArgv.filter((flag) => flag !== "");
  const { createPool, sync, values } = heddle ??= loadHeddle();
  const pool = createPool({
    threads: 1,
    // Calls take milliseconds, in programs that may use all cores: spins would win nothing.
    spinMs: 0,
    use: [sync(), values()],
    worker: { name: "synckit", setup: WORKER, data, ...(takesExecArgv && { execArgv }) },
  })<Tasks>(WORKER);
  const isLimited = timeout !== undefined && timeout < Infinity;
  const { run } = pool.sync;
  return {
    exitCode,
    run: isLimited ? run.with({ timeoutMs: Math.max(timeout, Number.MIN_VALUE) }) : run,
    end: () => void pool.shutdown(0),
  };
}

/** Starts a worker for a script. The function that it returns calls that of the script. */
export function startWorkerThread<T extends AnyFn, R = Awaited<ReturnType<T>>>(
  workerPath: string,
  {
    timeout = DEFAULT_TIMEOUT,
    execArgv = DEFAULT_EXEC_ARGV,
    tsRunner = DEFAULT_TS_RUNNER,
    transferList = [],
    globalShims = DEFAULT_GLOBAL_SHIMS,
  }: SynckitOptions = {},
): (...args: Parameters<T>) => R {
  const script = setupTsRunner(workerPath, { execArgv, ...(tsRunner && { tsRunner }) });
  checkRunner(script);
  const globals = globalsOf(script, globalShims);
  // In synckit the worker gets them without a way to reach them.
  if (transferList.length > 0) structuredClone(null, { transfer: transferList as Transferable[] });
  let pool: ReturnType<typeof startPool> | undefined = startPool(script, globals, timeout);
  return (...args) => {
    const { run, exitCode, end } = pool ??= startPool(script, globals, timeout);
    let reply: Reply;
    try {
      reply = run(args);
    } catch (error) {
      throw translated(error, exitCode);
    }
    const [result, stdio = [], failed] = reply;
    for (const { type, chunk, encoding } of stdio) process[type].write(chunk as string, encoding);
    if (failed === undefined) return result as R;
    if (failed.isFatal) {
      pool = undefined;
      end();
    }
    throw failed.error;
  };
}

const made = new Map<string, AnyFn>();

/** The function of a script, which blocks the caller until it is done. One for each path, with the options of the first call. */
export function createSyncFn<T extends AnyFn>(
  workerPath: URL | string,
  timeoutOrOptions?: SynckitOptions | number,
): Syncify<T> {
  const path = typeof workerPath !== "string" || workerPath.startsWith("file://")
    ? fileURLToPath(workerPath)
    : workerPath;
  const known = made.get(path);
  if (known !== undefined) return known as Syncify<T>;
  if (!isAbsolute(path)) throw new Error("`workerPath` must be absolute");
  const options = typeof timeoutOrOptions === "number"
    ? { timeout: timeoutOrOptions }
    : timeoutOrOptions;
  const fn = startWorkerThread<T>(path, options);
  made.set(path, fn);
  return fn;
}

/** Called by the script of a worker: makes a function that of the worker. Elsewhere it does nothing. */
export function runAsWorker<T extends AnyFn<Promise<R> | R>, R = ReturnType<T>>(fn: T): void {
  (globalThis as { readonly [REGISTER]?: Register })[REGISTER]?.(fn);
}
