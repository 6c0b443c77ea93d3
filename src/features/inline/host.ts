/** Calls that run on the host: the option `inliner`, and pools where no thread can start. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const inline: HostFeature = { name: "inline" };
