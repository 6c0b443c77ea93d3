/** The tasks of every pool: run a function by its number. Only workers load this module. */
import { transfer } from "../../mod-task.ts";
import { type Handler, handlerOf, loadHandler } from "./handlers.ts";
import { isMoved, listOf, valueSymbol } from "./symbols.ts";

/** Loads a function for later. Resolves also if the module has none: its tasks say so. */
export async function load(id: number, url: string, filename: string, name: string): Promise<void> {
  try {
    await loadHandler(id, url, filename, name);
  } catch (error) {
    if (!String((error as Error)?.message).startsWith("No handler function")) throw error;
  }
}

/** Loads a function and runs it. */
export async function runNew(
  id: number,
  url: string,
  filename: string,
  name: string,
  task: unknown,
): Promise<unknown> {
  return result(await (await loadHandler(id, url, filename, name))(task));
}

export function run(id: number, task: unknown): unknown {
  const handler = handlerOf(id);
  return typeof handler === "function"
    ? call(handler, task)
    : handler.then((loaded) => call(loaded, task));
}

function call(handler: Handler, task: unknown): unknown {
  const value = handler(task);
  const isThenable = typeof (value as { then?: unknown } | null | undefined)?.then === "function";
  return isThenable ? (value as Promise<unknown>).then(result) : result(value);
}

function result(value: unknown): unknown {
  return isMoved(value) ? transfer(value[valueSymbol], listOf(value)) : value;
}
