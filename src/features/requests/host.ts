/** What workers ask of the host: its functions, callbacks, calls of their own pool. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { writeCallback } from "../../codec/support/callback.ts";

export const requests: HostFeature = {
  name: "requests",

  writeValue: writeCallback,
};
