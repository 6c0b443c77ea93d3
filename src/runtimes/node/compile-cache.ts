/**
 * Node's compile cache. Each thread has its own, and does not inherit the folder that its host has enabled. The variable names the
 * folder before the thread loads anything; a call of `enableCompileCache` in the worker would be too late for heddle's own module.
 */
import { process } from "../node-api/process/process.ts";
import type { ThreadOptions } from "../runtime.ts";

const VARIABLE = "NODE_COMPILE_CACHE";

/** Node's name of the folder among those for temporary files. */
const DEFAULT_FOLDER = "node-compile-cache";

/** The folder that this process uses; otherwise the one that `module.enableCompileCache()` would take. */
function ownFolder(): string {
  const { dirname, join } = process.getBuiltinModule("node:path");
  // The subfolder of this version of Node. A thread that got it would make another one in it.
  const ofVersion = process.getBuiltinModule("node:module").getCompileCacheDir();
  if (ofVersion !== undefined) return dirname(ofVersion);
  return process.env[VARIABLE] ||
    join(process.getBuiltinModule("node:os").tmpdir(), DEFAULT_FOLDER);
}

/** Options of a thread or process that uses this folder, a path or the URL of a file. Undefined: that of this process. */
export function withCompileCache(thread: ThreadOptions, given: string | undefined): ThreadOptions {
  const { resolve } = process.getBuiltinModule("node:path");
  const { fileURLToPath } = process.getBuiltinModule("node:url");
  // Absolute, since a process may have another working directory.
  const folder = resolve(
    given === undefined ? ownFolder() : given.startsWith("file:") ? fileURLToPath(given) : given,
  );
  const { env } = thread as { readonly env?: Readonly<Record<string, string>> }; // no SHARE_ENV
  return {
    __proto__: null,
    ...thread,
    // At each start, as Node itself copies the variables of the host.
    get env() {
      return { ...(env ?? process.env), [VARIABLE]: folder };
    },
  } as ThreadOptions;
}
