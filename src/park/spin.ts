/**
 * Bounded spinning: the first step of every wait, while a core is free for it.
 *
 * A clock reading costs as much as several looks at a ring (40 to 90 ns). `Atomics.pause` (absent on Node 22, where
 * `pause` does nothing) is a hint to the core, not a delay to count on, so the clock alone keeps the budget.
 */
const LOOKS_PER_CLOCK = 64;

/** Looks before the first pause, which takes some 35 ns and would delay a response that is nearly there. */
const EAGER_LOOKS = 32;

export interface SpinOptions {
  readonly isReady: () => boolean;
  readonly mayGoOn: () => boolean;
  readonly pause: () => void;
  readonly now: () => number;
}

/** Spins until `isReady` (true), or until `budgetMs` has passed or `mayGoOn` is false (false). */
export function spinUntil(options: SpinOptions, budgetMs: number): boolean {
  const { isReady, mayGoOn, pause, now } = options;
  for (let look = 0; look < EAGER_LOOKS; look++) if (isReady()) return true;
  let deadlineMs = 0;
  for (;;) {
    for (let look = 0; look < LOOKS_PER_CLOCK; look++) {
      if (isReady()) return true;
      pause();
    }
    const nowMs = now();
    if (deadlineMs === 0) deadlineMs = nowMs + budgetMs;
    // One more look, since the thread may have been interrupted.
    else if (nowMs >= deadlineMs || !mayGoOn()) return isReady();
  }
}
