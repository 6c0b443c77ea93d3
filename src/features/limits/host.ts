/** Time limits and abort signals of calls: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { createCancellation, createDeadlines, createSignals } from "../../api/pool/limits.ts";
import { ABORT_EPOCHS_BYTES } from "../../sync/abort-epochs.ts";

export const limits: HostFeature = {
  name: "limits",

  memory: { abortEpochs: ABORT_EPOCHS_BYTES },
  onSettings: (host, call) => {
    const { hasSignal, signal, tickMs } = call.settings;
    if (hasSignal) host.part(createCancellation).begin(call);
    if (tickMs !== Infinity) host.part(createDeadlines).watch(tickMs);
    if (signal !== undefined && call.watch === undefined) {
      host.part(createSignals).watch(call, signal);
    }
  },
};
