/** Results and arguments that are streams, and events of tasks: the host's side. */
import { promiseOrStream, streamed } from "./host/promise-or-stream.ts";
import { streamOptions } from "./host/stream-options.ts";
import { inCallerContext } from "../../../api/calls/in-caller-context.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { PoolParts } from "../../../api/pool/parts.ts";
import { createSources, createStreams } from "./host/parts.ts";
import { writeStreamArgument } from "./stream-argument.ts";
import type { PendingCall } from "../../../host/calls/in-flight.ts";
import type { Lane } from "../../../host/lanes/lane.ts";
import { replaceStreams } from "./host/split-streams.ts";
import { endStreams } from "./open-source.ts";
import { takeItems } from "./host/stream-records.ts";
import { EVENTS, ITEMS, OPENED } from "../../../lane/frame.ts";
import type { ArgumentMessage } from "./messages.ts";

const read = (host: PoolParts, lane: Lane, index: number, call: PendingCall | undefined): void =>
  takeItems(host.part(createStreams), host.dispatcher.responses, lane, index, call);

const receive = (lane: Lane, message: ArgumentMessage, host: PoolParts): void =>
  host.part(createSources).onMessage(lane, message);

export const streams: HostFeature = {
  name: "streams",
  needs: ["limits"],

  writeValue: writeStreamArgument,

  callOptions: streamOptions,
  callGenerator: streamed,
  callEarly: promiseOrStream,
  streams: createStreams,

  records: { [OPENED]: read, [ITEMS]: read, [EVENTS]: read },
  whenMade: {
    streams: (call, host) => host.part(createSources).attach(call, call.settings.streams!),
    onEvent: (call, { spec: { runtime } }) => {
      // Already there if the call was made before its task was known.
      call.keep().onEvents ??= inCallerContext(runtime, call.settings.onEvent!);
    },
  },
  replaceArguments: replaceStreams,
  dropArguments: endStreams,

  messages: { credit: receive, cancel: receive },
};
