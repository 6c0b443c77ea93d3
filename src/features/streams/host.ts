/** Results and arguments that are streams, and events of tasks: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { writeStreamArgument } from "../../codec/support/stream-argument.ts";

export const streams: HostFeature = {
  name: "streams",

  writeValue: writeStreamArgument,
};
