/** Imports the modules of users: tasks, setup, context. */
import { Error, JSON, Promise } from "../../builtins.ts";
import { servedModule } from "../../realm/served-modules.ts";
import type { LoadError, WorkerRuntime } from "../../runtimes/runtime.ts";

export type Module = Readonly<Record<string, unknown>>;

export type ImportRuntime = Pick<WorkerRuntime, "explainLoadError" | "kinds" | "setTimeout">;

/** Why a module could not be loaded. */
export class LoadFailure extends Error {
  readonly module: string;
  /** What the import was rejected with. */
  readonly reason: unknown;
  /** File, line and column of the mistake, if the runtime knows them. */
  readonly place: string | undefined;

  constructor(module: string, reason: unknown, place: string | undefined) {
    super(`The module ${module} failed to load.`);
    this.module = module;
    this.reason = reason;
    this.place = place;
  }
}

/** Time after which a module may be one whose import never settles. */
const PENDING_MS = 50;

const { btoa } = globalThis;

/** A namespace, which may have an export `then`: a promise of it would call that. */
export interface Imported {
  readonly module: Module;
}

/** Imports the module at `url`. Throws LoadFailure. */
export async function importModule(url: string, runtime: ImportRuntime): Promise<Imported> {
  const served = servedModule(url);
  if (served !== undefined) return { module: served };
  try {
    const imported = await importAny(url, runtime);
    // Otherwise `then` has called back.
    if (runtime.kinds.isModuleNamespace(Object(imported.module))) return imported;
    return await importIndirectly(url);
  } catch (reason) {
    const { error, place } = await explain(reason, url, runtime);
    throw new LoadFailure(url, error, place);
  }
}

async function explain(error: unknown, url: string, runtime: ImportRuntime): Promise<LoadError> {
  try {
    return await runtime.explainLoadError(error, url);
  } catch {
    return { error, place: undefined }; // its code could not be loaded either
  }
}

/**
 * `import()` takes a module that exports `then` for a promise: it calls `then`, and settles only if that calls back. So if
 * it takes long, another module imports this one.
 */
function importAny(url: string, runtime: ImportRuntime): Promise<Imported> {
  return new Promise((resolve, reject) => {
    const timer = runtime.setTimeout(() => {
      importIndirectly(url).then((imported) => {
        if (typeof imported.module["then"] === "function") resolve(imported);
      }).catch(() => {}); // the other import rejects as well
    }, PENDING_MS);
    import(/* webpackIgnore: true */ /* @vite-ignore */ url)
      .then((module: Module) => {
        timer.clear();
        resolve({ module });
      }, (reason) => {
        timer.clear();
        reject(reason as Error);
      });
  });
}

/** Through a module with the namespace as an export. Bun takes other `data:` URLs for files. */
async function importIndirectly(url: string): Promise<Imported> {
  const source = btoa(`import * as module from ${JSON.stringify(url)};export{module};`);
  const data = `data:text/javascript;base64,${source}`;
  return await import(/* webpackIgnore: true */ /* @vite-ignore */ data) as Imported;
}
