/** The functions that tasks name, in a worker: found in their modules once, and known by a number after that. */
import { isExiting, requireFile } from "./runtime.ts";

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

/** An export that is a function, or a promise of one: by `require`, otherwise by `import`, as Piscina looks for it. */
async function findHandler({ url, name }: HandlerPlace): Promise<Handler | undefined> {
  const required = await requiredExport(url, name).catch(() => {
    if (isExiting()) return new Promise<never>(() => {});
    return undefined; // `import` says why
  });
  if (typeof required === "function") return required as Handler;
  const module = await import(/* webpackIgnore: true */ /* @vite-ignore */ url) as Module;
  const imported = await module[name];
  return typeof imported === "function" ? imported as Handler : undefined;
}

/** The default export of a CommonJS module is `module.exports`, unless it was compiled from an ES module. */
async function requiredExport(url: string, name: string): Promise<unknown> {
  const exports = Object(requireFile(url, import.meta.url)) as Module;
  if (name === "default" && !exports["__esModule"]) return await exports;
  // Not what all functions have, such as `call`.
  return Object.hasOwn(exports, name) ? await exports[name] : undefined;
}
