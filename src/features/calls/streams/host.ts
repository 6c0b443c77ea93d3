/** Results and arguments that are streams, and events of tasks: the host's side. */
import { promiseOrStream, streamed } from "./host/promise-or-stream.ts";
import { inCallerContext } from "../../../api/calls/in-caller-context.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { PoolParts } from "../../../api/pool/parts.ts";
import * as deferred from "./host/deferred.ts";
import type { ArgumentMessage } from "./messages.ts";
import { streamOptions } from "./task.ts";
import { writeStreamArgument } from "./sources/stream-argument.ts";
import type { PendingCall } from "../../../host/calls/in-flight.ts";
import type { Lane } from "../../../host/lanes/lane.ts";
import { DataCloneError } from "../../../errors.ts";
import { isStreamable } from "../../../protocol/is-streamable.ts";
import { EVENTS, ITEMS, OPENED } from "../../../lane/frame.ts";

const read = (host: PoolParts, lane: Lane, index: number, call: PendingCall | undefined): void =>
  host.part(deferred.createStreams).read(lane, index, call);

const take = (lane: Lane, message: ArgumentMessage, host: PoolParts): void =>
  deferred.onArgumentMessage(lane, message, host);

export const streams: HostFeature = {
  name: "streams",
  needs: ["limits"],

  writeValue: writeStreamArgument,

  callOptions: streamOptions,
  callGenerator: streamed,
  callEarly: promiseOrStream,

  records: { [OPENED]: read, [ITEMS]: read, [EVENTS]: read },
  whenMade: {
    streams: (call, host) => deferred.attachSources(call, host),
    onEvent: (call, { spec: { runtime } }) => {
      // Already there if the call was made before its task was known.
      call.keep().onEvents ??= inCallerContext(runtime, call.settings.onEvent!);
    },
  },
  replaceArguments: (args, error) =>
    error instanceof DataCloneError && args.some(isStreamable)
      ? deferred.replaceStreams(args, error)
      : undefined,
  dropArguments: (args) => {
    if (args.some(isStreamable)) deferred.endStreams(args);
  },

  messages: { credit: take, cancel: take },
};
