/** Time limits and abort signals of calls: the host's side. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import { createSignals } from "./host/abort-signals.ts";
import { createCancellation } from "./host/cancellation.ts";
import { ABORT_EPOCHS_BYTES } from "./abort-epochs.ts";
import { checkLimit, checkMs } from "../../../option-checks.ts";
import { StoppedWorkers } from "./host/stopped-workers.ts";
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
    hasSignal: (call, host) => host.part(createCancellation).begin(call),
    tickMs: (call, host) => host.part(createCancellation).deadlines.add(call, call.settings.tickMs),
    // Last: it may abort the call.
    signal: (call, host) => host.part(createSignals).watch(call),
  },

  workers: { stopping: (workers) => new StoppedWorkers(workers) },
};
