/** Bounded queues: what waits, and what is refused. */
import { Promise } from "../../../builtins.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { AUTO_QUEUE_PER_THREAD, createBound } from "./parts.ts";
import type { PoolAccess } from "../../../api/pool/members.ts";
import { checkLimit, invalid, show } from "../../../option-checks.ts";

function checkQueuePolicy(given: unknown): "reject" | "wait" {
  if (given === "reject" || given === "wait") return given;
  throw invalid("queuePolicy", '"reject" or "wait"', show(given));
}

const needsDrain = ({ core }: PoolAccess): boolean => core.dispatcher.backpressure.needsDrain;

export const queue: HostFeature = {
  name: "queue",

  options: {
    maxQueue: (value, to) =>
      to.maxQueue = value === "auto"
        ? AUTO_QUEUE_PER_THREAD * to.maxThreads
        : checkLimit("maxQueue", value, 0),
    queuePolicy: (value, to) => to.queuePolicy = checkQueuePolicy(value),
  },
  defaults: { maxQueue: Infinity, queuePolicy: "reject" },

  members: {
    needsDrain,
    drained: (access) =>
      access.keep("drained", () => (): Promise<void> => {
        if (!needsDrain(access)) return Promise.resolve();
        return new Promise((resolve) => {
          access.pool.addEventListener("drain", () => resolve(), { once: true });
        });
      }),
  },

  provides: { bound: createBound },
};
