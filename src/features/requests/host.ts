/** What workers ask of the host: its functions, callbacks, calls of their own pool. */
import { checkHost } from "../../api/options/host-options.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import { writeCallback } from "../../codec/support/callback.ts";

export const requests: HostFeature = {
  name: "requests",
  needs: ["limits"],

  writeValue: writeCallback,

  options: { host: (value, to) => to.hostFunctions = checkHost(value) },
};
