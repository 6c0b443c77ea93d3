/** What workers ask of the host: its functions, callbacks, calls of their own pool. */
import type { HostFeature } from "../../api/pool/feature.ts";
import type { PoolParts } from "../../api/pool/parts.ts";
import type { Lane } from "../../host/lanes/lane.ts";
import type { RequestMessage } from "../../protocol/host-requests.ts";

const toRequests = (lane: Lane, message: RequestMessage, { requests }: PoolParts): void =>
  requests.onMessage(lane, message);

export const requests: HostFeature = {
  name: "requests",

  messages: { request: toRequests, requestAbort: toRequests },
};
