/** Time limits and abort signals of calls: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const limits: HostFeature = {
  name: "limits",

  whenMade: {
    hasSignal: (call, { cancellation }) => cancellation.begin(call),
    tickMs: (call, { deadlines }) => deadlines.begin(call),
    // Last: it may abort the call.
    signal: (call, { signals }) => signals.watch(call, call.settings.signal!),
  },
};
