/** Results and arguments that are streams, and events of tasks: the host's side. */
import { promiseOrStream, streamed } from "./host/promise-or-stream.ts";
import { inCallerContext } from "../../../api/calls/in-caller-context.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { PoolParts } from "../../../api/pool/parts.ts";
import { attachSources, onArgumentMessage } from "./host/argument-sources.ts";
import { createStreams } from "./host/stream-calls.ts";
import { streamOptions } from "./task.ts";
import { writeStreamArgument } from "./stream-argument.ts";
import type { PendingCall } from "../../../host/calls/in-flight.ts";
import type { Lane } from "../../../host/lanes/lane.ts";
import { replaceStreams } from "./host/split-streams.ts";
import { endStreams } from "./open-source.ts";
import { EVENTS, ITEMS, OPENED } from "../../../lane/frame.ts";

const read = (host: PoolParts, lane: Lane, index: number, call: PendingCall | undefined): void =>
  host.part(createStreams).read(lane, index, call);

export const streams: HostFeature = {
  name: "streams",
  needs: ["limits"],

  writeValue: writeStreamArgument,

  callOptions: streamOptions,
  callGenerator: streamed,
  callEarly: promiseOrStream,

  records: { [OPENED]: read, [ITEMS]: read, [EVENTS]: read },
  whenMade: {
    streams: attachSources,
    onEvent: (call, { spec: { runtime } }) => {
      // Already there if the call was made before its task was known.
      call.keep().onEvents ??= inCallerContext(runtime, call.settings.onEvent!);
    },
  },
  replaceArguments: replaceStreams,
  dropArguments: endStreams,

  messages: { credit: onArgumentMessage, cancel: onArgumentMessage },
};
