/** What workers ask of the host: its functions, callbacks, calls of their own pool. */
import { checkHost } from "../../api/options/host-options.ts";
import { CallerContext } from "../../host/calls/caller-context.ts";
import type { PendingCall } from "../../host/calls/in-flight.ts";
import { callerPartOf, replaceCallbacks } from "../../host/requests/caller-part.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import type { RequestMessage } from "../../protocol/host-requests.ts";
import { writeCallback } from "../../codec/support/callback.ts";

/** Keeps what the requests of the call's task need. */
function keepCaller(call: PendingCall): void {
  const part = callerPartOf(call);
  const { callbacks, context } = call.settings;
  if (callbacks !== undefined) part.callbacks = callbacks;
  part.context ??= context ?? new CallerContext();
}

export const requests: HostFeature = {
  name: "requests",
  needs: ["limits"],

  writeValue: writeCallback,

  options: { host: (value, to) => to.hostFunctions = checkHost(value) },

  whenMade: { callbacks: keepCaller, asksHost: keepCaller },
  replaceArguments: replaceCallbacks,

  messages: {
    request: (lane, message: RequestMessage, { requests }) => requests.onMessage(lane, message),
    requestAbort: (lane, message: RequestMessage, { requests }) =>
      requests.onMessage(lane, message),
  },
};
