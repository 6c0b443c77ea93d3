/** `isMain`, and what serves workers that start with a bundle. */
import { serveBundle } from "../api/pool/is-main.ts";

/**
 * False in heddle's workers, true everywhere else, also in other worker threads (such as a test runner's) and in modules
 * that are not the entry of the program. Use it to guard code that must not run when workers import the module. Use
 * `import.meta.main` to check whether a module is the entry.
 */
export const isMain: boolean = serveBundle(() => import("../mod-worker.ts"));
