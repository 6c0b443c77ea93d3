/** The functions that tasks name, in a worker: found in their modules once. */
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";

export type Handler = (task: unknown) => unknown;
type Module = Readonly<Record<string, unknown>>;

const handlers = new Map<string, Handler>();

const keyOf = (filename: string, name: string): string => `${name}\n${filename}`;

/** A function that has been loaded. */
export const handlerOf = (filename: string, name: string): Handler | undefined =>
  handlers.get(keyOf(filename, name));

/** A URL or the name of a package stays; other texts are paths, from the working directory. */
function importModule(filename: string): Promise<Module> {
  const url = pathToFileURL(filename).href;
  const load = (specifier: string): Promise<Module> =>
    import(/* webpackIgnore: true */ /* @vite-ignore */ specifier) as Promise<Module>;
  if (isAbsolute(filename) || filename.startsWith(".")) return load(url);
  return load(filename).catch(() => load(url));
}

/**
 * An export that is a function or a promise of one. A default export that is an object comes first: `import` gives the exports
 * of a CommonJS module as one. Undefined: there is none.
 */
export async function loadHandler(filename: string, name: string): Promise<Handler | undefined> {
  const module = await importModule(filename);
  const { default: inner } = module;
  for (const exports of typeof inner === "function" || !inner ? [module] : [inner, module]) {
    const found = await (exports as Module)[name];
    if (typeof found !== "function") continue;
    handlers.set(keyOf(filename, name), found as Handler);
    return found as Handler;
  }
  return undefined;
}
