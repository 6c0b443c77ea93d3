/**
 * The runtime this thread runs on. Only `pool.ts` and `worker/entry.ts` import this file.
 *
 * Deno and Bun also define `process.versions.node`, so their own globals are checked first.
 */
import { createBunRuntime } from "./bun.ts";
import { createDenoRuntime } from "./deno.ts";
import { createNodeRuntime } from "./node.ts";
import type { Runtime } from "./runtime.ts";

export const currentRuntime: Runtime = "Deno" in globalThis
  ? createDenoRuntime()
  : "Bun" in globalThis
  ? createBunRuntime()
  : createNodeRuntime();
