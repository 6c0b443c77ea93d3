/** Time limits and abort signals of calls: the host's side. */
import { limitOptions } from "../../api/options/limit-options.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import { checkLimit, checkMs } from "../../option-checks.ts";
import { StoppedWorkers } from "../../host/workers/stopped-workers.ts";

export const limits: HostFeature = {
  name: "limits",

  callOptions: limitOptions,
  options: {
    hardTimeoutMs: (value, to) => to.hardTimeoutMs = checkMs("hardTimeoutMs", value),
    maxAbandonedThreads: (value, to) =>
      to.maxAbandonedThreads = checkLimit("maxAbandonedThreads", value, 0),
  },

  whenMade: {
    hasSignal: (call, { cancellation }) => cancellation.begin(call),
    tickMs: (call, { deadlines }) => deadlines.begin(call),
    // Last: it may abort the call.
    signal: (call, { signals }) => signals.watch(call, call.settings.signal!),
  },

  workers: { stopping: (workers) => new StoppedWorkers(workers) },
};
