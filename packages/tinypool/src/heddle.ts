/**
 * heddle, loaded with the first pool: modules of tasks import this package too, for `move` or `workerId`, and each of their workers
 * would load it.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

type Heddle = typeof import("heddle");

let loaded: Heddle | undefined;

/** By `require`, but the ES module: the file for CommonJS is a fifth longer. */
function load(): Heddle {
  return createRequire(import.meta.url)(fileURLToPath(import.meta.resolve("heddle"))) as Heddle;
}

export const heddle = (): Heddle => loaded ??= load();
