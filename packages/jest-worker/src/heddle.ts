/**
 * heddle, loaded when the first worker starts: workers import this package as well, for `messageParent`. All of heddle, since its
 * worker is one file: that of `heddle/core` with the features that are needed here starts later.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Pool } from "heddle";

export type TaskPool = Pool<typeof import("./worker.ts")>;

let loaded: typeof import("heddle") | undefined;

/** By `require`, but the ES module: the file for CommonJS is a fifth longer. */
function load(): typeof import("heddle") {
  return createRequire(import.meta.url)(
    fileURLToPath(import.meta.resolve("heddle")),
  ) as typeof import("heddle");
}

export const heddle = (): typeof import("heddle") => loaded ??= load();
