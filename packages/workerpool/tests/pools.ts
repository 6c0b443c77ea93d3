/** Pools of a test, which end with it. */
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import workerpool, { type Any, type Pool, type WorkerPoolOptions } from "@heddle/workerpool";

const open: Pool[] = [];

afterEach(async () => {
  for (const pool of open.splice(0)) await pool.terminate(true);
});

/** The path of a script of the tests. */
const scriptPath = (name: string): string =>
  fileURLToPath(new URL(`./scripts/${name}`, import.meta.url));

/** A pool that ends with the test. `script`: a file of the tests, or undefined for none. */
export function createPool(script?: string, options: WorkerPoolOptions = {}): Pool {
  const pool = script === undefined
    ? workerpool.pool(options)
    : workerpool.pool(scriptPath(script), options);
  open.push(pool);
  return pool;
}

/** What a promise is rejected with. */
export async function errorOf(promise: PromiseLike<unknown>): Promise<Any> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("the promise was fulfilled");
}

/** Resolves once a condition holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
