/** Named and own balancers. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { createChooser } from "../../host/schedule/balancers.ts";

export const balancers: HostFeature = {
  name: "balancers",

  provides: { chooser: createChooser },
};
