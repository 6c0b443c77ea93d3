/**
 * Shared memory between the controller and the threads it runs in lockstep.
 *
 * Word 0 is the run number; then STRIDE words per thread:
 *   +0 turn     controller adds 1: take one step
 *   +1 state    thread: what it is doing (below)
 *   +2 address  BLOCKED: key of the word it waits on
 *   +3 ticket   BLOCKED: place in the first-in-first-out queue of waiters
 *   +4 outcome  controller or notifying thread: how the wait ends
 * Word TICKETS hands out tickets.
 */
export const RUN = 0;
export const TICKETS = 1;
export const FIRST_THREAD = 8;
export const STRIDE = 8;
export const TURN = 0;
export const STATE = 1;
export const ADDRESS = 2;
export const TICKET = 3;
export const OUTCOME = 4;

/** About to perform an atomic operation, or to start. */
export const AT_STEP = 1;
/** Inside a wait that nobody has ended yet. */
export const BLOCKED = 2;
/** The same with a timeout, which may pass at any time. */
export const BLOCKED_WITH_TIMEOUT = 3;
/** A wait that was notified; takes its next step when it is given its turn. */
export const WOKEN = 4;
/** Inside `Atomics.pause`: not runnable until another thread has taken a step. */
export const PAUSED = 5;
export const FINISHED = 6;
export const FAILED = 7;
/** Running between two steps. */
export const RUNNING = 0;

export const NOTIFIED = 1;
export const TIMED_OUT = 2;

/** Word that counts the steps taken; after it, what each was: thread, operation, address. */
export const STEPS = 64;
export const MAX_STEPS = 2000;
export const CONTROL_WORDS: number = STEPS + 1 + 3 * MAX_STEPS;

/** Operations by their number in the log of steps. */
export const OPERATIONS = [
  "start",
  "load",
  "store",
  "add",
  "exchange",
  "compareExchange",
  "wait",
  "notify",
] as const;

export function wordOf(thread: number, field: number): number {
  return FIRST_THREAD + thread * STRIDE + field;
}
