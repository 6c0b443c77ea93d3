/** How many workers a pool has: by load, within a budget; and workers that are recycled. */
import { checkMeasurable } from "../../../api/options/worker-limits.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { PoolSizing } from "./host/pool-sizing.ts";
import { WorkerRecycling } from "./host/recycling.ts";
import type { Recycling } from "../../../host/workers/feature.ts";

import { addFixed, PoolBudget } from "./host/pool-budget.ts";
import { checkLimit, checkMs, invalid, show } from "../../../option-checks.ts";

const ofFeature = (recycling: Recycling | undefined): WorkerRecycling =>
  recycling as WorkerRecycling;

function checkBudget(budget: unknown): PoolBudget {
  if (budget instanceof PoolBudget) return budget;
  throw invalid("budget", "a budget that threadBudget() returned", show(budget));
}

export const scaling: HostFeature = {
  name: "scaling",

  options: {
    budget: (value, to) => to.budget = checkBudget(value),
    idleTimeoutMs: (value, to) => to.idleTimeoutMs = checkMs("idleTimeoutMs", value),
    recycleAfter: (value, to) => to.recycleAfter = checkLimit("recycleAfter", value, 1, 2 ** 29),
    maxWorkerBytes: (value, to, _given, runtime) => {
      const scaling = checkMeasurable(checkLimit("maxWorkerBytes", value), runtime);
      if (scaling !== Infinity) to.startData = { ...to.startData, scaling };
    },
  },

  messages: {
    full: (lane, { isFarOver }: { isFarOver: boolean }, { supervisor }) =>
      ofFeature(supervisor.recycling).onFull(lane, isFarOver),
  },

  workers: {
    sizing: (workers) => {
      const { budget, share, minThreads, maxThreads } = workers.size;
      const isFixed = budget === undefined && (share?.guaranteed ?? minThreads) === maxThreads;
      if (!isFixed) return new PoolSizing(workers);
      addFixed(workers);
      return undefined;
    },
    recycling: (workers) => new WorkerRecycling(workers),
  },
};
