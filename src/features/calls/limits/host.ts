/** Time limits and abort signals of calls: the host's side. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import * as deferred from "./host/deferred.ts";
import { ABORT_EPOCHS_BYTES } from "./abort-epochs.ts";
import { checkLimit, checkMs } from "../../../option-checks.ts";
import { limitOptions } from "./task.ts";

export const limits: HostFeature = {
  name: "limits",

  callOptions: limitOptions,
  options: {
    hardTimeoutMs: (value, to) => {
      to.hardTimeoutMs = checkMs("hardTimeoutMs", value);
      to.settings = { ...to.settings, hardTimeoutMs: to.hardTimeoutMs };
    },
    maxAbandonedThreads: (value, to) =>
      to.maxAbandonedThreads = checkLimit("maxAbandonedThreads", value, 0),
  },
  defaults: { hardTimeoutMs: Infinity },

  sharedBytes: ABORT_EPOCHS_BYTES,
  whenMade: {
    hasSignal: (call, host) => host.part(deferred.createCancellation).begin(call),
    tickMs: (call, host) =>
      host.part(deferred.createCancellation).deadlines.add(call, call.settings.tickMs),
    // Last: it may abort the call.
    signal: (call, host) => host.part(deferred.createSignals).watch(call),
  },

  workers: { stopping: (workers) => new deferred.StoppedWorkers(workers) },
};
