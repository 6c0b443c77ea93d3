/**
 * Loads a file of the package when it is first used, at once: `require()` takes ES modules, and they share their imports with those that
 * are loaded. Only the build for runtimes uses it (`scripts/modules.ts`): bundles, JSR and browsers have everything in place.
 */
import { process } from "./process.ts";

let load: NodeJS.Require | undefined;

export function loadFile(name: string): unknown {
  load ??= process.getBuiltinModule("node:module").createRequire(import.meta.url);
  return load(name);
}
