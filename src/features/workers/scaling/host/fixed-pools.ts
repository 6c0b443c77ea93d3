/** Pools of a fixed number of threads: nothing limits them, but they count in the budget of pools that name none. */
import { Set, WeakRef } from "../../../../builtins.ts";
import type { Workers } from "../../../../host/workers/feature.ts";

export type FixedPool = Pick<Workers, "threadCount" | "isClosing" | "size">;

/** Those of this thread. Weak: what is closed and gone counts for nothing, and nothing tells its end. */
export const fixedPools: Set<WeakRef<FixedPool>> = new Set();

export function addFixed(pool: FixedPool): void {
  for (const ref of fixedPools) if (ref.deref() === undefined) fixedPools.delete(ref);
  fixedPools.add(new WeakRef(pool));
}
