/** The tasks of every pool: run a function by its number. Only workers load this module. */
import { Promise } from "../../../builtins.ts";
import { transfer } from "../../../mod-task.ts";
import { type Handler, handlerOf, type HandlerPlace, loadHandler, missing } from "./handlers.ts";
import { isMoved, listOf, valueSymbol } from "../symbols.ts";

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
  return isMoved(value) ? transfer(value[valueSymbol], listOf(value)) : value;
}
