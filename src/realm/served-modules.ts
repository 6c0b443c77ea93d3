/**
 * Modules of tasks that a program's own worker has loaded itself, in browsers: bundlers do not let it import them by their URL.
 * On `globalThis`, since the worker may contain another copy of heddle than its tasks.
 */
import { Error } from "../builtins.ts";

const KEY = Symbol.for("heddle.served");

/** The URL by which workers know what they serve. */
export const SERVED_URL = "heddle:served";

type Module = Readonly<Record<string, unknown>>;

/** Until `serveModule` is called, asking for the module fails. */
export function expectModule(): void {
  if (KEY in globalThis) return;
  const get = (): never => {
    throw new Error(
      "the script of the worker did not call serve(tasks), or called it after an await: it has to be called first.",
    );
  };
  Object.defineProperty(globalThis, KEY, { configurable: true, get });
}

export function serveModule(module: Module): void {
  Object.defineProperty(globalThis, KEY, { configurable: true, value: module });
}

/** The module with this URL, if the worker serves it. */
export function servedModule(url: string): Module | undefined {
  return url === SERVED_URL ? (globalThis as { [KEY]?: Module })[KEY] : undefined;
}
