/** Bounded queues: what waits, and what is refused. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { createBound } from "../../api/pool/queue-bound.ts";

export const queue: HostFeature = {
  name: "queue",

  provides: { bound: createBound },
};
