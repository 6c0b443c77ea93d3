/** Browsers: pages and their web workers. */
import { Date, URL } from "../../builtins.ts";
import type { Runtime, TracingChannel } from "../runtime.ts";
import { macrotask, microtask, now, originMs, timers } from "./clock.ts";
import { createContext } from "./context.ts";
import { isPromise, objectKinds } from "./kinds.ts";
import { createChannel, createPort, parent, spawnWorker } from "./threads.ts";
import { byteAccess, textAccess } from "./values.ts";

/** Nobody can subscribe. */
const silent: TracingChannel = {
  hasSubscribers: false,
  begin: (_message, f) => f(),
  settle: (_message, f) => f(),
  fail: () => {},
};

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
    measuresMemory: false,
    blocks: false,
    startsGivenWorkers: true,
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
    tracingChannel: () => silent,
    env: () => undefined,
    printError: (line) => console.error(line),
    ...timers,
    createChannel,
    openPort: (remote) => createPort(remote as MessagePort),
    refuseLimits: ({ resourceLimits, permission }) => [
      ...(resourceLimits === undefined ? [] : ["browsers take no resourceLimits of workers"]),
      ...(permission === undefined ? [] : ["browsers cannot deny their workers anything"]),
    ],
    spawnWorker: (entry, _name, _limits, _modules, thread) => spawnWorker(entry, thread),
    directOutputs: () => [],
    takesExecArgv: false,
    confineSelf: () => {},
    exists: () => true,
    explainLoadError: (error) => ({ error, place: undefined }),
    bundleMark: () => undefined,
    memoryBytes: () => 0,
    parent,
    toModuleUrl: (location) => new URL(location, globalThis.location?.href).href,
    importCondition: "browser",
    canRead: () => true,
    loadNow: () => {},
    onBeforeExit: () => () => {},
    stopsThreads: true,
    printsUncaught: false,
    warn: (...lines) => console.warn(...lines),
  };
}
