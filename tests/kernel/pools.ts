/** Pools of the kernel's suite, which uses nothing that a feature adds. */
import { afterEach } from "vitest";
import { createPool, type Pool, type PoolOptions } from "../../src/mod.ts";

export const tasksUrl: URL = new URL("./tasks.ts", import.meta.url);

export type KernelPool = Pool<typeof import("./tasks.ts")>;

const open = new Set<KernelPool>();

/** A pool that the end of the test closes. */
export function kernelPool(options: PoolOptions = {}): KernelPool {
  const pool = createPool(options)<typeof import("./tasks.ts")>(tasksUrl);
  open.add(pool);
  return pool;
}

afterEach(async () => {
  for (const pool of open) await pool.shutdown();
  open.clear();
});

/** What the promise rejects with. Fails if it is fulfilled. */
export async function rejection(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("It was fulfilled.");
}
