/** Results and arguments that are streams, and events of tasks: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";
import type { PoolParts } from "../../api/pool/parts.ts";
import type { Lane } from "../../host/lanes/lane.ts";
import type { ArgumentMessage } from "../../protocol/start-data.ts";

const toSources = (lane: Lane, message: ArgumentMessage, { sources }: PoolParts): void =>
  sources.onMessage(lane, message);

export const streams: HostFeature = {
  name: "streams",

  messages: { credit: toSources, cancel: toSources },
};
