/** The functions that tasks name, in a worker: found in their modules once, and known by a number after that. */
import { Error, Map } from "../../builtins.ts";

export type Handler = (task: unknown) => unknown;

/** Of more functions the first are forgotten. */
const MAX_KNOWN = 1000;

/** By number: the function, or a promise of it while its module loads. */
const handlers = new Map<number, Handler | Promise<Handler>>();

/** Function number `id`, a promise while its module loads. */
export function handlerOf(id: number): Handler | Promise<Handler> {
  const known = handlers.get(id);
  if (known === undefined) throw new Error(`No function has the number ${id} in this worker.`);
  return known;
}

/** Loads the export `name` of a module. Rejects if it has no such function. `url`: of `filename`. */
export function loadHandler(
  id: number,
  url: string,
  filename: string,
  name: string,
): Promise<Handler> {
  const loading = findHandler(url, name).then((handler) => {
    if (handler === undefined) throw new Error(`No handler function exported from ${filename}`);
    handlers.set(id, handler);
    return handler;
  });
  loading.catch(() => handlers.delete(id)); // the next task tries again
  if (handlers.size >= MAX_KNOWN) {
    const [first] = handlers.keys();
    handlers.delete(first!);
  }
  handlers.set(id, loading);
  return loading;
}

type Module = Readonly<Record<string, unknown>>;

/** An export that is a function, or a promise of one. Those of a CommonJS module are the properties of its `module.exports`. */
async function findHandler(url: string, name: string): Promise<Handler | undefined> {
  const module = await import(/* webpackIgnore: true */ /* @vite-ignore */ url) as Module;
  const named = await module[name];
  if (typeof named === "function") return named as Handler;
  const inner = await (Object(await module["default"]) as Module)[name];
  return typeof inner === "function" ? inner as Handler : undefined;
}
