/** Node: the place of a mistake in a module. Node itself writes it only under uncaught errors, and into some stacks. */
import type * as inspector from "node:inspector";
import { JSON } from "../../builtins.ts";
import { process } from "../node-api/process/process.ts";
import type { LoadError } from "../runtime.ts";

/** First line of a stack that begins with an excerpt of the source. */
const EXCERPT = /^((?:file:|\/|[A-Z]:\\)\S*:\d+)\n/;

/** A frame of Node's that is above every syntax error in an ES module, which has no excerpt. */
const COMPILE = /^ +at compileSourceTextModule \(node:/m;

/** A frame of `require`: modules may have run. */
const CJS = /node:internal\/modules\/cjs\//;

/** Response of `Runtime.getExceptionDetails`, which Node's types lack. */
interface Details {
  readonly exceptionDetails?: { readonly lineNumber: number; readonly columnNumber: number };
}

/** Key of the global that passes an error to the inspector. */
const KEY = "heddle.loadError";

export async function explainLoadError(error: unknown, url: string): Promise<LoadError> {
  const { stack } = Object(error) as { readonly stack?: unknown };
  if (typeof stack !== "string") return { error, place: undefined };
  const excerpt = EXCERPT.exec(stack)?.[1];
  if (excerpt !== undefined || !COMPILE.test(stack)) return { error, place: excerpt };
  const place = await findSyntaxError(error, url, !CJS.test(stack)).catch(() => undefined);
  if (place !== undefined) (error as { stack: string }).stack = `${place}\n${stack}`;
  return { error, place };
}

/**
 * Asks the inspector for line and column, and loads the module again for the name of the file, which may be one that
 * the module imports. Nothing runs: the modules cannot be linked.
 */
async function findSyntaxError(
  error: unknown,
  url: string,
  mayRequire: boolean,
): Promise<string | undefined> {
  const { Session } = process.getBuiltinModule("node:inspector");
  const session = new Session();
  session.connect();
  try {
    const position = positionOf(error, session);
    let file: string | undefined;
    session.on("Debugger.scriptFailedToParse", ({ params }) => file ??= params.url);
    session.post("Debugger.enable");
    await import(/* webpackIgnore: true */ /* @vite-ignore */ url).catch(() => {});
    // Node 22 and 24 keep the failed import, but not for `require`.
    if (file === undefined && mayRequire) tryRequire(url);
    return file === undefined || position === undefined ? undefined : `${file}:${position}`;
  } finally {
    session.disconnect();
  }
}

function tryRequire(url: string): void {
  const { createRequire } = process.getBuiltinModule("node:module");
  const { fileURLToPath } = process.getBuiltinModule("node:url");
  try {
    createRequire(url)(fileURLToPath(url));
  } catch {
    // the same error
  }
}

function positionOf(error: unknown, session: inspector.Session): string | undefined {
  const key = Symbol.for(KEY);
  const global = globalThis as { [key]?: unknown };
  let position: string | undefined;
  global[key] = error;
  const expression = `globalThis[Symbol.for(${JSON.stringify(KEY)})]`;
  // The session is of this thread, so that it calls back at once.
  session.post("Runtime.evaluate", { expression }, (_, evaluated) => {
    const errorObjectId = evaluated.result.objectId!;
    session.post("Runtime.getExceptionDetails", { errorObjectId }, (_, found) => {
      const { lineNumber = -1, columnNumber = -1 } = (found as Details).exceptionDetails ?? {};
      if (lineNumber >= 0) position = `${lineNumber + 1}:${columnNumber + 1}`;
    });
  });
  delete global[key];
  return position;
}
