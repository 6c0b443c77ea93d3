/** `isMain` of `heddle/core`, and what serves workers that start with a bundle. */
import { serveBundle } from "../api/pool/is-main.ts";

/**
 * False in heddle's workers, true everywhere else. Use it to guard code that must not run when workers import the module, as `isMain`
 * of `heddle`.
 */
export const isMain: boolean = serveBundle(() => import("../mod-core-worker.ts"));
