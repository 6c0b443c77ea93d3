/** Browsers: pages and their web workers. */
import { Date, URL } from "../../builtins.ts";
import type { Runtime } from "../runtime.ts";
import { macrotask, microtask, now, originMs, timers } from "./clock.ts";
import { createContext } from "./context.ts";
import { isPromise, objectKinds } from "./kinds.ts";
import { createChannel, createPort } from "./ports.ts";
import { byteAccess, textAccess } from "./values.ts";

/** Whether this page, or the page of this worker, may share memory with its workers. */
const isIsolated: boolean = "SharedArrayBuffer" in globalThis &&
  (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true;

export function createBrowserRuntime(): Runtime {
  return {
    text: textAccess,
    bytes: byteAccess,
    kinds: objectKinds,
    errors: { bare: () => undefined },
    cores: Math.max(1, globalThis.navigator?.hardwareConcurrency ?? 1),
    sharesMemory: isIsolated,
    blocks: false,
    now,
    coarseNow: Date.now,
    get originMs() {
      return originMs();
    },
    microtask,
    macrotask,
    turnsPerYield: 1,
    losesAsyncWakes: false,
    isPromise,
    pause: (Atomics as { pause?: () => void }).pause ?? (() => {}),
    createContext,
    bindContext: () => (f) => f(),
    env: () => undefined,
    printError: (line) => console.error(line),
    ...timers,
    createChannel,
    openPort: (remote) => createPort(remote as MessagePort),
    exists: () => true,
    bundleMark: () => undefined,
    toModuleUrl: (location) => new URL(location, globalThis.location?.href).href,
    canRead: () => true,
    loadNow: () => {},
  };
}
