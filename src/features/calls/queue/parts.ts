/** The bound of a pool's queue: its options `maxQueue` and `queuePolicy`. */
import { Backpressure } from "./backpressure.ts";
import type { PoolParts } from "../../../api/pool/parts.ts";

/** Calls per worker that wait on the host: the limit of `maxQueue: "auto"`, and the threshold of `needsDrain`. */
export const AUTO_QUEUE_PER_THREAD = 1024;

export function createBound(host: PoolParts): Backpressure {
  const { maxQueue, maxThreads, queuePolicy } = host.spec.options;
  return new Backpressure({
    maxQueue,
    policy: queuePolicy,
    highWaterMark: Math.max(1, Math.min(maxQueue, AUTO_QUEUE_PER_THREAD * maxThreads)),
    onDrain: () => host.onDrain(),
  });
}
