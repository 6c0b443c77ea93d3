/** Bounded queues: what waits, and what is refused. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const queue: HostFeature = { name: "queue" };
