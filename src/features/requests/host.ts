/** What workers ask of the host: its functions, callbacks, calls of their own pool. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { writeCallback } from "../../codec/support/callback.ts";
import { createRequests } from "../../api/pool/host-requests.ts";
import type { PoolParts } from "../../api/pool/parts.ts";
import { CallerContext } from "../../host/calls/caller-context.ts";
import type { Lane } from "../../host/lanes/lane.ts";
import { takeRequest } from "../../host/requests/request-records.ts";
import { REQUEST } from "../../lane/frame.ts";
import type { RequestMessage } from "../../protocol/host-requests.ts";

const receive = (host: PoolParts, lane: Lane, message: RequestMessage): void =>
  host.part(createRequests).onMessage(lane, message);

export const requests: HostFeature = {
  name: "requests",
  needs: ["keys", "limits"],

  writeValue: writeCallback,

  records: {
    [REQUEST]: (host, lane, index) => takeRequest(host.part(createRequests), lane, index),
  },
  messages: { request: receive, requestAbort: receive },
  onSettings: (_host, call) => {
    const { asksHost, callbacks, context } = call.settings;
    if (callbacks !== undefined) call.callbacks = callbacks;
    if (asksHost || callbacks !== undefined) call.context ??= context ?? new CallerContext();
  },
};
