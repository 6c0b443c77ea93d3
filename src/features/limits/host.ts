/** Time limits and abort signals of calls: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { createCancellation, createDeadlines, createSignals } from "../../api/pool/limits.ts";
import { ABORT_EPOCHS_BYTES } from "../../sync/abort-epochs.ts";

export const limits: HostFeature = {
  name: "limits",

  sharedBytes: ABORT_EPOCHS_BYTES,
  whenMade: {
    hasSignal: (call, host) => host.part(createCancellation).begin(call),
    tickMs: (call, host) => {
      host.part(createCancellation).timed.watch(call);
      host.part(createDeadlines).watch(call.settings.tickMs);
    },
    // Last: it may abort the call.
    signal: (call, host) => host.part(createSignals).watch(call, call.settings.signal!),
  },
};
