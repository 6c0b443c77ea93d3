/** `pool.map`, `forEach` and `reduce`. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const map: HostFeature = { name: "map" };
