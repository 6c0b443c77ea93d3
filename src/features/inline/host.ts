/** Calls that run on the host: the option `inliner`, and pools where no thread can start. */
import { checkInliner, checkUnavailable } from "../../api/options/inline-options.ts";
import type { HostFeature } from "../../api/pool/feature.ts";

export const inline: HostFeature = {
  name: "inline",

  options: {
    inliner: (value, to) => to.inliner = checkInliner(value),
    onUnavailable: (value, to, { permission }) =>
      to.onUnavailable = checkUnavailable(value, permission),
  },
};
