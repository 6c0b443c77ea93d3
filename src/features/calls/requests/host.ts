/** What workers ask of the host: its functions, callbacks, calls of their own pool. */
import { checkHost } from "./host/host-options.ts";
import { CallerContext } from "../../../host/calls/caller-context.ts";
import type { PendingCall } from "../../../host/calls/in-flight.ts";
import { callerPartOf, replaceCallbacks } from "./host/caller-part.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { writeCallback } from "./callback-value.ts";
import { referenceOf } from "./references.ts";
import * as deferred from "./host/deferred.ts";
import type { PoolParts } from "../../../api/pool/parts.ts";
import type { Lane } from "../../../host/lanes/lane.ts";
import { REQUEST } from "../../../lane/frame.ts";
import type { RequestMessage } from "./messages.ts";

const receive = (lane: Lane, message: RequestMessage, host: PoolParts): void =>
  host.part(deferred.createRequests).onMessage(lane, message);

/** Keeps what the requests of the call's task need. */
function keepCaller(call: PendingCall, host: PoolParts): void {
  const part = callerPartOf(call);
  const { callbacks, context } = call.settings;
  if (callbacks !== undefined) {
    part.callbacks = callbacks;
    for (const value of callbacks.references) {
      referenceOf(value)!.keepIn(host.part(deferred.createRequests).references, value);
    }
  }
  part.context ??= context ?? new CallerContext();
}

export const requests: HostFeature = {
  name: "requests",
  needs: ["keys", "limits"],

  writeValue: writeCallback,

  options: {
    host: (value, to) => {
      to.hostFunctions = checkHost(value);
      to.settings = { ...to.settings, asksHost: true };
    },
  },

  records: {
    [REQUEST]: (host, lane, index) => host.part(deferred.createRequests).read(lane, index),
  },
  whenMade: { callbacks: keepCaller, asksHost: keepCaller },
  replaceArguments: replaceCallbacks,

  messages: { request: receive, requestAbort: receive },
};
