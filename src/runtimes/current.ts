/**
 * The runtime this thread runs on. Only `pool.ts` and `worker/entry.ts` import this file.
 *
 * Deno and Bun also define `process.versions.node`, so their own globals are checked first.
 */
import { createBunRuntime } from "./bun/adapter.ts";
import { createDenoRuntime } from "./deno.ts";
import { createNodeRuntime } from "./node/adapter.ts";
import type { Runtime } from "./runtime.ts";

export const currentRuntime: Runtime = "Deno" in globalThis
  ? createDenoRuntime()
  : "Bun" in globalThis
  ? createBunRuntime()
  : createNodeRuntime();
