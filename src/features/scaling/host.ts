/** How many workers a pool has: by load, within a budget; and workers that are recycled. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { PoolSizing } from "../../host/scaling/pool-sizing.ts";
import { WorkerRecycling } from "../../host/workers/recycling.ts";
import type { Recycling } from "../../host/workers/feature.ts";

const ofFeature = (recycling: Recycling | undefined): WorkerRecycling =>
  recycling as WorkerRecycling;

export const scaling: HostFeature = {
  name: "scaling",

  messages: {
    full: (lane, { isFarOver }: { isFarOver: boolean }, { supervisor }) =>
      ofFeature(supervisor.recycling).onFull(lane, isFarOver),
  },

  workers: {
    sizing: (workers) =>
      new PoolSizing(
        workers,
        (lane, reason) => ofFeature(workers.recycling).drain(lane, reason),
      ),
    recycling: (workers) => new WorkerRecycling(workers),
  },
};
