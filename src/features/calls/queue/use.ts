/** The feature `queue` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { queue as added } from "./host.ts";

/** Bounded queues: `maxQueue`, `queuePolicy`, `pool.needsDrain` and `pool.drained()`. For `createPool({ use: [queue()] })` of `heddle/core`. */
export function queue(): Feature<"queue"> {
  return feature(added);
}
