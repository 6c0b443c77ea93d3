/** Results and arguments that are streams, and events of tasks: the host's side. */
import { promiseOrStream, streamed } from "../../api/calls/stream-calls.ts";
import { streamOptions } from "../../api/options/stream-options.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import { writeStreamArgument } from "../../codec/support/stream-argument.ts";

export const streams: HostFeature = {
  name: "streams",

  writeValue: writeStreamArgument,

  callOptions: streamOptions,
  callGenerator: streamed,
  callEarly: promiseOrStream,
};
