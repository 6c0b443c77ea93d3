/** What watches a pool: statistics, debug output, metrics, tracing, contexts. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const observe: HostFeature = { name: "observe" };
