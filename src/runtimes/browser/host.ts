/** In the browser's build this takes the place of `runtimes/host.ts`. */
import type { HostRuntime, TracingChannel } from "../runtime.ts";
import { currentRuntime } from "./current.ts";
import { spawnWorker } from "./threads.ts";

/** Nobody can subscribe. */
const silent: TracingChannel = {
  hasSubscribers: false,
  begin: (_message, f) => f(),
  settle: (_message, f) => f(),
  fail: () => {},
};

const nothing = (): void => {};

export const hostRuntime: HostRuntime = Object.assign(
  currentRuntime,
  {
    systemMemory: () => "browsers do not tell it",
    measuresMemory: false,
    takesOutput: false, // a browser has no streams, and its tools show which worker has printed
    startsGivenWorkers: true,
    takesExecArgv: false,
    stopsThreads: true,
    printsUncaught: false,
    importCondition: "browser",
    tracingChannel: () => silent,
    refuseLimits: ({ resourceLimits, permission }) => [
      ...(resourceLimits === undefined ? [] : ["browsers take no resourceLimits of workers"]),
      ...(permission === undefined ? [] : ["browsers cannot deny their workers anything"]),
    ],
    spawnWorker,
    directOutputs: () => [],
    runDueTimeouts: nothing, // no host blocks
    onBeforeExit: () => nothing,
    warn: (...lines) => console.warn(...lines),
  } satisfies Omit<HostRuntime, keyof typeof currentRuntime>,
);
