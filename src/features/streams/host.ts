/** Results and arguments that are streams, and events of tasks: the host's side. */
import { promiseOrStream, streamed } from "../../api/calls/stream-calls.ts";
import { streamOptions } from "../../api/options/stream-options.ts";
import { inCallerContext } from "../../api/calls/in-caller-context.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import type { ArgumentMessage } from "../../protocol/start-data.ts";
import { writeStreamArgument } from "../../codec/support/stream-argument.ts";
import { replaceStreams } from "../../host/streams/split-streams.ts";
import { endStreams } from "../../streams/open-source.ts";

export const streams: HostFeature = {
  name: "streams",
  needs: ["limits"],

  writeValue: writeStreamArgument,

  callOptions: streamOptions,
  callGenerator: streamed,
  callEarly: promiseOrStream,

  whenMade: {
    streams: (call, { sources }) => sources.attach(call, call.settings.streams!),
    onEvent: (call, { spec: { runtime } }) => {
      // Already there if the call was made before its task was known.
      call.keep().onEvents ??= inCallerContext(runtime, call.settings.onEvent!);
    },
  },
  replaceArguments: replaceStreams,
  dropArguments: endStreams,

  messages: {
    credit: (lane, message: ArgumentMessage, { sources }) => sources.onMessage(lane, message),
    cancel: (lane, message: ArgumentMessage, { sources }) => sources.onMessage(lane, message),
  },
};
