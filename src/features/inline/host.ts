/** Calls that run on the host: the option `inliner`, and pools where no thread can start. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { createInlineExecutor } from "../../api/pool/inlining.ts";

export const inline: HostFeature = {
  name: "inline",

  provides: { inliner: createInlineExecutor },
};
