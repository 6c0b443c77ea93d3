/** How many workers a pool has: by load, within a budget; and workers that are recycled. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { PoolParts } from "../../../api/pool/parts.ts";
import * as deferred from "./host/deferred.ts";
import type { WorkerRecycling } from "./host/recycling.ts";
import type { Recycling } from "../../../host/workers/feature.ts";
import { addFixed } from "./host/fixed-pools.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import { checkLimit, checkMs } from "../../../option-checks.ts";
import { resolveThreads } from "./host/thread-options.ts";

const ofFeature = (recycling: Recycling | undefined): WorkerRecycling =>
  recycling as WorkerRecycling;

const NOT_MEASURED =
  "maxWorkerBytes cannot be enforced: browsers do not tell the memory of a worker.";
const isFixed = (threads: number): string =>
  `minFreeMemory limits the workers beyond minThreads, and this pool always has ${threads}: set minThreads below maxThreads.`;

async function checkMemory(host: PoolParts): Promise<void> {
  const { createMemoryCheck } = await import("./host/memory-check.ts");
  host.part(createMemoryCheck);
}

export const scaling: HostFeature = {
  name: "scaling",

  options: {
    threads: resolveThreads,
    minThreads: resolveThreads,
    maxThreads: resolveThreads,
    budget: resolveThreads,
    idleTimeoutMs: (value, to) => to.idleTimeoutMs = checkMs("idleTimeoutMs", value),
    recycleAfter: (value, to) => to.recycleAfter = checkLimit("recycleAfter", value, 1, 2 ** 29),
    maxWorkerBytes: (value, to, _given, runtime) => {
      const scaling = deferred.checkBytes(
        "maxWorkerBytes",
        value,
        { min: 1, isEndless: true },
        runtime,
      );
      if (scaling === Infinity) return;
      if (runtime.measuresMemory === false) throw new InvalidArgumentError(NOT_MEASURED);
      to.startData = { ...to.startData, scaling };
      to.prepare = { ...to.prepare, scaling: checkMemory };
    },
    minFreeMemory: (value, to, _given, runtime) => {
      to.minFreeMemory = deferred.checkBytes(
        "minFreeMemory",
        value,
        { min: 0, isEndless: false },
        runtime,
      );
      if (to.minFreeMemory > 0) deferred.readMemory("minFreeMemory", runtime);
      // The only worker of a pool always starts.
      if (to.maxThreads > 1 && to.share.guaranteed === to.maxThreads) {
        throw new InvalidArgumentError(isFixed(to.maxThreads));
      }
    },
  },
  defaults: {
    idleTimeoutMs: 10_000,
    recycleAfter: Infinity,
    share: { guaranteed: 1, isLimited: true },
  },

  messages: {
    full: (lane, { isFarOver }: { isFarOver: boolean }, { supervisor }) =>
      ofFeature(supervisor.recycling).onFull(lane, isFarOver),
  },

  workers: {
    sizing: (workers) => {
      const { budget, share, minThreads, maxThreads } = workers.size;
      const isFixed = budget === undefined && (share?.guaranteed ?? minThreads) === maxThreads;
      if (!isFixed) return new deferred.PoolSizing(workers);
      if (workers.size.isOnHost !== true) addFixed(workers);
      return undefined;
    },
    recycling: (workers) => new deferred.WorkerRecycling(workers),
  },
};
