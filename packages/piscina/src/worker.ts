/** What workers load: their setup, and the tasks of every pool, which run a function by its number. */
import { type Handler, handlerOf, type HandlerPlace, loadHandler, missing } from "./handlers.ts";
import { setWorkerData, type WorkerSetup } from "./worker-data.ts";
import { loadTransfer } from "./runtime.ts";
import { isMoved, listOf, type Transferable, valueSymbol } from "./symbols.ts";

/** Loaded by the first result that is moved: most are not, and each worker would take 6 ms to compile heddle's tools for tasks. */
let transfer: ReturnType<typeof loadTransfer> | undefined;

/** What each worker does first. That the module has no such function is for its tasks to say. */
export default async function setUp(setup: WorkerSetup): Promise<void> {
  if ("workerData" in setup) setWorkerData(setup.workerData);
  if (setup.place !== undefined) await loadHandler(setup.place);
}

/** Runs a function that may have to be loaded first. */
export async function runNew(place: HandlerPlace, task: unknown): Promise<unknown> {
  const handler = await loadHandler(place);
  if (handler === undefined) throw missing(place.filename);
  return call(handler, task);
}

/** Runs a function that has been loaded. */
export function run(id: number, task: unknown): unknown {
  return call(handlerOf(id), task);
}

/** The same for the first function, which most pools run alone: one argument travels at less cost than two. */
export function runFirst(task: unknown): unknown {
  return call(handlerOf(0), task);
}

function call(handler: Handler, task: unknown): unknown {
  const value = handler(task);
  const isThenable = typeof (value as { then?: unknown } | null | undefined)?.then === "function";
  return isThenable ? Promise.resolve(value).then(result) : result(value);
}

function result(value: unknown): unknown {
  return isMoved(value) ? moved(value) : value;
}

function moved(value: Transferable): unknown {
  transfer ??= loadTransfer();
  return transfer(value[valueSymbol], listOf(value));
}
