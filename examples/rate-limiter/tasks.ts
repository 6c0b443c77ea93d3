import type { AtomicCounter, Semaphore, SharedMap } from "heddle/shared";

export interface Bucket {
  readonly tokens: number;
  /** The second for which `tokens` is right. */
  readonly second: number;
}

export interface Limits {
  readonly buckets: SharedMap<string, Bucket>;
  readonly semaphore: Semaphore;
  readonly running: AtomicCounter;
  readonly maxRunning: AtomicCounter;
}

const MAX_TOKENS = 8;
const TOKENS_PER_SECOND = 3;

/** Runs a request of a user; false if the user has no token. */
export async function request(user: string, second: number, limits: Limits): Promise<boolean> {
  if (!await takeToken(user, second, limits.buckets)) return false;
  const guard = await limits.semaphore.acquire();
  try {
    const running = limits.running.add();
    raise(limits.maxRunning, running);
    await new Promise((resolve) => setTimeout(resolve, 5)); // in place of the request
    limits.running.add(-1);
  } finally {
    guard.release();
  }
  return true;
}

/** Takes a token from the bucket of a user, which gets new ones each second. */
async function takeToken(
  user: string,
  second: number,
  buckets: SharedMap<string, Bucket>,
): Promise<boolean> {
  let isTaken = false;
  await buckets.update(user, (bucket = { tokens: MAX_TOKENS, second }) => {
    const refill = (second - bucket.second) * TOKENS_PER_SECOND;
    const tokens = Math.min(MAX_TOKENS, bucket.tokens + refill);
    isTaken = tokens > 0;
    return { tokens: isTaken ? tokens - 1 : tokens, second };
  });
  return isTaken;
}

/** Sets the counter to `value` if that is more. */
function raise(counter: AtomicCounter, value: number): void {
  for (let old = counter.value; old < value; old = counter.value) {
    if (counter.replace(old, value)) return;
  }
}
