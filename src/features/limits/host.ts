/** Time limits and abort signals of calls: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { StoppedWorkers } from "../../host/workers/stopped-workers.ts";

export const limits: HostFeature = {
  name: "limits",

  whenMade: {
    hasSignal: (call, { cancellation }) => cancellation.begin(call),
    tickMs: (call, { cancellation, deadlines }) => {
      cancellation.timed.watch(call);
      deadlines.watch(call.settings.tickMs);
    },
    // Last: it may abort the call.
    signal: (call, { signals }) => signals.watch(call, call.settings.signal!),
  },

  workers: { stopping: (workers) => new StoppedWorkers(workers) },
};
