/** What a host asks of its runtime, beside what workers ask as well. */
import { Set, URL } from "../builtins.ts";
import { spawnOnBun } from "./bun/web-workers.ts";
import { startTimeout, tracingChannel } from "./node-api/common.ts";
import { currentRuntime } from "./current.ts";
import { mayReadSystem, refusePermission as refuseOnDeno } from "./deno.ts";
import { withCompileCache } from "./node/compile-cache.ts";
import * as deferred from "./node/deferred.ts";
import { constructThread } from "./node/late-outputs.ts";
import { isOwn, OUTPUTS } from "./node-api/process/outputs.ts";
import { process } from "./node-api/process/process.ts";
import { systemMemory } from "./node-api/system-memory.ts";
import type { HostRuntime, Runtime, Timer } from "./runtime.ts";
import { isBun, isDeno, threads } from "./node-api/threads/threads.ts";
import { spawnThread } from "./node-api/threads/worker-threads.ts";

/** The timeouts of this thread that have not run. */
const timeouts = new Set<{ readonly dueMs: number; readonly run: () => void }>();

function setTimeout(callback: () => void, delayMs: number): Timer {
  const timeout = { dueMs: currentRuntime.now() + delayMs, run: callback };
  const run = timeout.run = (): void => {
    if (!timeouts.delete(timeout)) return;
    timer.clear();
    callback();
  };
  const timer = startTimeout(run, delayMs);
  timeouts.add(timeout);
  return {
    ...timer,
    clear: () => {
      timeouts.delete(timeout);
      timer.clear();
    },
  };
}

/** Callbacks of all pools, called by one listener: Node warns about more than ten listeners. */
const beforeExit = new Set<() => void>();
const runBeforeExit = (): void => beforeExit.forEach((callback) => callback());

const common: Omit<HostRuntime, keyof Runtime | keyof Own> & Pick<Runtime, "setTimeout"> = {
  takesExecArgv: false,
  systemMemory: () => systemMemory(readText),
  measuresMemory: true,
  takesOutput: true,
  startsGivenWorkers: false,
  loadProcesses: async () => (await import("./processes/child-processes.ts")).spawnProcess,
  stopsThreads: true,
  printsUncaught: false,
  directOutputs: () => [],
  setTimeout,
  runDueTimeouts: () => {
    const nowMs = currentRuntime.now();
    // Found first, since a callback may set others. One that another has cleared does not run.
    const due = [...timeouts].filter(({ dueMs }) => dueMs <= nowMs);
    for (const { run } of due) run();
  },
  onBeforeExit: (callback) => {
    if (beforeExit.size === 0) process.on("beforeExit", runBeforeExit);
    beforeExit.add(callback);
    return () => {
      beforeExit.delete(callback);
      if (beforeExit.size === 0) process.off("beforeExit", runBeforeExit);
    };
  },
  tracingChannel,
  warn: (...lines) => console.error(...lines),
};

/** Undefined: it is not there, or may not be read. */
function readText(path: string): string | undefined {
  try {
    return currentRuntime.canRead(new URL(`file://${path}`))
      ? process.getBuiltinModule("node:fs").readFileSync(path, "utf8")
      : undefined;
  } catch {
    return undefined;
  }
}

/** What runtimes do differently. */
type Own = Pick<HostRuntime, "spawnWorker" | "refuseLimits" | "importCondition">;
type Specifics = Own & Partial<HostRuntime>;

const onNode = (): Specifics => ({
  spawnWorker: spawnThread(
    ({ resourceLimits, permission }, library, modules) => ({
      ...(resourceLimits && { resourceLimits }),
      ...(permission && deferred.confine(permission, library, modules)),
    }),
    // The idle time of a thread is negative after its end. Before the host's event loop has heard of its start all counters are
    // zero, which says nothing.
    (worker) => worker.performance.eventLoopUtilization().idle < 0,
    constructThread,
  ),
  refuseLimits: ({ permission }) =>
    permission === undefined ? [] : deferred.refusePermission(permission),
  takesExecArgv: true,
  withCompileCache,
  importCondition: "node",
  // The streams of a thread are messages to its host.
  directOutputs: () => threads().isMainThread ? OUTPUTS.filter(isOwn) : [],
});

const onDeno = (): Specifics => ({
  spawnWorker: spawnThread(),
  refuseLimits: ({ resourceLimits, permission }) => [
    // A worker that reaches its limit in a promise or message callback hangs: it neither runs nor ends (2.9).
    ...(resourceLimits === undefined ? [] : ["Deno leaves workers hanging at resourceLimits"]),
    ...(permission === undefined ? [] : refuseOnDeno(permission)),
  ],
  // Asking without the right would ask the user.
  systemMemory: () =>
    mayReadSystem() ? systemMemory(readText) : "it needs --allow-sys=systemMemoryInfo",
  importCondition: "deno",
  stopsThreads: false,
  printsUncaught: true,
});

const onBun = (): Specifics => ({
  spawnWorker: spawnOnBun,
  refuseLimits: ({ resourceLimits, permission }) => [
    ...(resourceLimits === undefined ? [] : ["Bun ignores resourceLimits of workers"]),
    ...(permission === undefined ? [] : ["Bun cannot deny its threads anything"]),
  ],
  importCondition: "bun",
});

/** `currentRuntime`, with what hosts ask. */
export const hostRuntime: HostRuntime = Object.assign(
  currentRuntime,
  common,
  (isDeno ? onDeno : isBun ? onBun : onNode)(),
);
