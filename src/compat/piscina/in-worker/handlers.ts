/** The functions that tasks name, in a worker: found in their modules once, and known by a number after that. */
import { Error, Map } from "../../../builtins.ts";
import { completedPath, pathToFileURL } from "../../../runtimes/piscina.ts";

export type Handler = (task: unknown) => unknown;

/** Where a function is. `filename` is the path that the program named, `url` is its address. */
export interface HandlerPlace {
  readonly id: number;
  readonly url: string;
  readonly filename: string;
  readonly name: string;
}

const loading = new Map<number, Promise<Handler | undefined>>();
const handlers: Handler[] = [];

/** A function that has been loaded. */
export const handlerOf = (id: number): Handler => handlers[id]!;

/** Loads a function, once; undefined: its module exports none of this name. Rejects if the module cannot be loaded, which may be tried again. */
export function loadHandler(place: HandlerPlace): Promise<Handler | undefined> {
  const { id } = place;
  const before = loading.get(id);
  if (before !== undefined) return before;
  const found = findHandler(place).then((handler) => {
    if (handler === undefined) loading.delete(id);
    else handlers[id] = handler;
    return handler;
  });
  loading.set(id, found);
  found.catch(() => loading.delete(id));
  return found;
}

export const missing = (filename: string): Error =>
  new Error(`No handler function exported from ${filename}`);

type Module = Readonly<Record<string, unknown>>;

/** The module of that address, or of the file that `require` finds for its path. */
async function load({ url, filename }: HandlerPlace): Promise<Module> {
  try {
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ url) as Module;
  } catch (error) {
    const path = completedPath(filename);
    if (path === undefined) throw error;
    return await import(
      /* webpackIgnore: true */ /* @vite-ignore */ pathToFileURL(path).href
    ) as Module;
  }
}

/** An export that is a function, or a promise of one. Those of a CommonJS module are the properties of its `module.exports`. */
async function findHandler(place: HandlerPlace): Promise<Handler | undefined> {
  const { name } = place;
  const module = await load(place);
  const named = await module[name];
  if (typeof named === "function") return named as Handler;
  const exports = Object(await module["default"]) as Module;
  // Not what all functions have, such as `call`.
  const inner = Object.hasOwn(exports, name) ? await exports[name] : undefined;
  return typeof inner === "function" ? inner as Handler : undefined;
}
