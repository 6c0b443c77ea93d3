/** The tasks of every pool: run a function of a module of the program. Only workers load this. */
import process from "node:process";
import { isMovable, kValue, listOf } from "./common.ts";
import { type Handler, handlerOf, loadHandler } from "./in-worker/handlers.ts";
import { deliver, openChannel } from "./in-worker/process-channel.ts";
import type { Outcome, WorkerStart } from "./protocol.ts";

let start: WorkerStart;
/** The function of the pool: most pools run no other. */
let first: Handler | undefined;

// As they are before the program's code can replace `process`.
const { pid } = process;
const memoryUsage = process.memoryUsage.bind(process);

/** The setup: tells the program's modules where they are, and loads the module of the pool. */
export default async function setUp(given: WorkerStart): Promise<void> {
  start = given;
  const { runtime, workerData, workerId, filename, name, isJson } = given;
  const isThread = runtime === "worker_threads";
  process.__tinypool_state__ = {
    isTinypoolWorker: true,
    ...(isThread ? { isWorkerThread: true } : { isChildProcess: true }),
    workerData: isThread ? workerData : null,
    workerId,
  };
  if (isThread && workerData !== undefined) setThreadData([{ workerId }, workerData]);
  if (!isThread) await openChannel(isJson);
  if (filename !== null) first = await loadHandler(filename, name);
}

/** `workerData` of "node:worker_threads" as Tinypool's workers have it: Docusaurus reads the second element. Bun takes 2.3 ms to load it. */
function setThreadData(data: readonly unknown[]): void {
  Object.assign(process.getBuiltinModule("node:worker_threads"), { workerData: data });
  process.getBuiltinModule("node:module").syncBuiltinESMExports();
}

/** The id of the thread, or of the process. */
export async function identify(): Promise<number> {
  if (start.runtime === "child_process") return pid;
  const { threadId } = await import("node:worker_threads");
  return threadId;
}

/** Runs the function of the pool. */
export function run(task: unknown): unknown {
  const { filename, name } = start;
  return first === undefined ? runNamed(task, filename!, name) : finish(first, task);
}

/** Runs any function. */
export function runNamed(task: unknown, filename: string, name: string): unknown {
  const handler = handlerOf(filename, name);
  if (handler !== undefined) return finish(handler, task);
  return loadHandler(filename, name).then((loaded) => {
    if (loaded !== undefined) return finish(loaded, task);
    throw new Error(`No handler function "${name}" exported from "${filename}"`);
  });
}

function finish(handler: Handler, task: unknown): unknown {
  const value = handler(task);
  const isThenable = typeof (value as { then?: unknown } | null | undefined)?.then === "function";
  return isThenable ? Promise.resolve(value).then(resultOf) : resultOf(value);
}

async function transferred(value: unknown, list: readonly unknown[]): Promise<unknown> {
  const { transfer } = await import("heddle/task");
  return transfer(value, list);
}

function resultOf(value: unknown): unknown {
  const isMoving = isMovable(value);
  const result = isMoving ? value[kValue] : value;
  if (start.runtime === "child_process") return result;
  const sent = start.hasOutcomes ? outcome(result, null) : result;
  return isMoving ? transferred(sent, listOf(value)) : sent;
}

const outcome = (result: unknown, error: unknown): Outcome => ({
  result,
  error,
  usedMemory: memoryUsage().heapUsed,
});

/** The same in a process, whose errors travel as plain objects, as Tinypool's do. */
export async function runInProcess(
  task: unknown,
  filename: string,
  name: string,
): Promise<Outcome | string> {
  const { isJson } = start;
  let settled: Outcome;
  try {
    const argument = isJson && task !== undefined ? JSON.parse(task as string) as unknown : task;
    settled = outcome(await runNamed(argument, filename, name), null);
    return isJson ? JSON.stringify(settled) : settled;
  } catch (error) {
    settled = outcome(null, plainError(error));
    return isJson ? JSON.stringify(settled) : settled;
  }
}

function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, stack, message } = error;
  return { ...error, name, stack, message };
}

/** A message of the program. */
export function message(packed: unknown): void {
  deliver(packed, start.isJson);
}
