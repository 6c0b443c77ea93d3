/**
 * Bounded spinning: the first step of every wait, taken only while a core is free for it.
 *
 * A clock reading costs as much as several looks at a ring (40–90 ns), so the clock is read once per
 * 64 looks. `Atomics.pause` (absent on Node 22, where `pause` does nothing) is a hint to the core,
 * not a delay to count on; the budget is kept by the clock alone.
 */
const LOOKS_PER_CLOCK = 64;

/**
 * Looks taken before the first pause. A pause takes some 35 ns, in which an answer that is nearly there
 * has to wait; so short a burst without one disturbs nobody.
 */
const EAGER_LOOKS = 32;

export interface SpinOptions {
  readonly isReady: () => boolean;
  readonly mayGoOn: () => boolean;
  readonly pause: () => void;
  readonly now: () => number;
}

/** Spins until `isReady` (true) or until `budgetMs` has passed or `mayGoOn` says no (false). */
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
    // Once more: if the thread was interrupted, much may have happened.
    else if (nowMs >= deadlineMs || !mayGoOn()) return isReady();
  }
}
