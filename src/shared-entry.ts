/**
 * Loads `heddle/shared` in a thread that meets shared objects and has not imported it. At once, by `require`: what decodes a value
 * cannot wait. In a bundle nothing is found, and a remote module cannot be loaded in this way.
 */
import { DataCloneError } from "./errors.ts";
import { type HandleSupport, handleSupport, PACKED } from "./realm/handles.ts";
import type { CodecAccess } from "./runtimes/runtime.ts";
import { ownFolder } from "./own-folder.ts";

type Loader = Pick<CodecAccess, "exists" | "canRead" | "loadNow">;

/** The line that helps where the module is not found. */
export const IMPORT_LINE = 'import "heddle/shared";';

/** The module `heddle/shared` of this copy of heddle. Undefined: it cannot be loaded without an import. */
export function sharedModule(runtime: Loader): URL | undefined {
  const url = ownFolder(runtime)?.shared;
  return url?.protocol === "file:" && runtime.canRead(url) ? url : undefined;
}

/** What `heddle/shared` does in this thread, loaded if need be. Throws DataCloneError if that is impossible: `what` needs it. */
export function loadShared(runtime: Loader, what: string): HandleSupport {
  let cause: unknown;
  if (handleSupport() === undefined) {
    try {
      const url = sharedModule(runtime);
      if (url !== undefined) runtime.loadNow(url);
    } catch (error) {
      cause = error;
    }
  }
  const support = handleSupport();
  if (support !== undefined) return support;
  throw new DataCloneError(
    `${what}: add the line \`${IMPORT_LINE}\` to the module of the task, or to the program if that receives it.`,
    { cause },
  );
}

/** `worker.data` as the worker sees it. */
export function unpackData(data: unknown, runtime: Loader): unknown {
  if (typeof data !== "object" || data === null || !Object.hasOwn(data, PACKED)) return data;
  return loadShared(runtime, "worker.data has shared objects")
    .unpack((data as { [PACKED]: unknown })[PACKED]);
}
