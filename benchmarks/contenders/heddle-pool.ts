/** A pool of one worker as the payload scenarios see it. */
import type { Echo, EchoCalls } from "./echo-contender.ts";

interface EchoPool {
  readonly ready: Promise<void>;
  shutdown(): Promise<void>;
}

/** Waits for the worker, and pairs the call with the end of its pool. */
export async function echoThrough(pool: EchoPool, echo: Echo): Promise<EchoCalls> {
  await pool.ready;
  return { echo, close: () => pool.shutdown() };
}
