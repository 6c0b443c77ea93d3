/**
 * Shared memory between the controller and the threads it runs in lockstep. Only the thread that has the turn writes here; it
 * passes the turn on by itself (lockstep-scheduler.ts). The controller writes before a run and after it.
 *
 * Words for all:
 *   +0 current      thread that has the turn; -1: none yet
 *   +1 tickets      hands out places in the queues of waiters
 *   +2 preemptions  so far
 *   +3 choices      made so far
 *   +4 bound        most preemptions
 *   +5 prefix       choices that are given; the rest are the first option, or random
 *   +6 random       state of the generator; 0: no random choices
 *   +7 verdict      how the run ended; 0: it goes on
 *   +8 threads      number of threads
 *   +9 mortal       thread that may be killed at any step; -1: none
 *   +10 steps       taken so far
 *   +11 changes     operations so far that have changed a word
 *   +12 run seed    what `random` was at first: how often threads are switched
 *   +13 scenario    number of the scenario, which a message names; it stays from run to run
 * Then STRIDE words per thread:
 *   +0 turn         whoever passes the turn to this thread adds 1
 *   +1 state        what the thread is doing (below)
 *   +2 address      BLOCKED: key of the word it waits on
 *   +3 ticket       BLOCKED: place in the first-in-first-out queue of waiters
 *   +4 outcome      how the wait ends
 *   +5 since        PAUSED: number of choices when it began. ASLEEP, IN_LOOP: of changes, before the last look
 *   +6 events       IN_LOOP: bits of what may happen next
 *   +7 async address, +8 async ticket: the same of its `waitAsync`; address 0: none
 *   +9 async outcome  NOTIFIED: its `waitAsync` is over, and the event loop has not seen it
 *   +10 forced      ASLEEP, IN_LOOP: number of changes, plus 1, when it last looked since no thread could go on
 */
export const CURRENT = 0;
export const TICKETS = 1;
export const PREEMPTIONS = 2;
export const CHOICES = 3;
export const BOUND = 4;
export const PREFIX = 5;
export const RANDOM = 6;
export const VERDICT = 7;
export const THREADS = 8;
export const MORTAL = 9;
export const STEPS = 10;
export const CHANGES = 11;
export const RUN_SEED = 12;
export const SCENARIO = 13;

export const MAX_THREADS = 4;
const FIRST_THREAD = 16;
const STRIDE = 16;
export const TURN = 0;
export const STATE = 1;
export const ADDRESS = 2;
export const TICKET = 3;
export const OUTCOME = 4;
export const SINCE = 5;
export const EVENTS = 6;
export const ASYNC_ADDRESS = 7;
export const ASYNC_TICKET = 8;
export const ASYNC_OUTCOME = 9;
export const FORCED = 10;

/** Running: has the turn. */
export const RUNNING = 0;
/** About to perform an atomic operation, or to start. */
export const AT_STEP = 1;
/** Inside a wait that no thread has ended yet. */
export const BLOCKED = 2;
/** The same with a timeout, which may pass at any time. */
export const BLOCKED_WITH_TIMEOUT = 3;
/** A wait that was notified; takes its next step when it is given its turn. */
export const WOKEN = 4;
/** Inside `Atomics.pause`: not runnable until another thread has taken a step. */
export const PAUSED = 5;
/** Between two looks that are a moment apart: not runnable until something has changed since the last look began. */
export const ASLEEP = 12;
/** In its event loop: runnable if one of its EVENTS can happen, or its `waitAsync` was notified. */
export const IN_LOOP = 6;
/** Waits for the mortal thread to die or to finish. */
export const AWAITS_END = 7;
export const FINISHED = 8;
export const FAILED = 9;
/** Killed: takes no step any more. */
export const DEAD = 10;
/** Killed, and back at the start of its loop after the run. */
export const UNWOUND = 11;

/** Bits of EVENTS. A callback is due. */
export const DUE = 1;
/** A timer of a millisecond or less is set: as ASLEEP. */
export const SOON = 2;
/** A longer timer is set, which may fire at any time. */
export const LIMIT = 4;

/** Values of OUTCOME and ASYNC_OUTCOME. */
export const NOTIFIED = 1;
export const TIMED_OUT = 2;
export const KILLED = 3;

/** Values of VERDICT. */
export const COMPLETE = 1;
export const STUCK = 2;
export const SPINNING = 3;
export const FAILURE = 4;
export const ENDLESS = 5;
export const DIVERGED = 6;

export const MAX_STEPS = 2000;
const LOG = FIRST_THREAD + STRIDE * MAX_THREADS;
/** What each step was: thread, operation, address. */
export const logOf = (step: number): number => LOG + 3 * (step % MAX_STEPS);
const MADE = LOG + 3 * MAX_STEPS;
/** What each choice was: its number, and how many there were. */
export const choiceAt = (choice: number): number => MADE + 2 * choice;
export const CONTROL_WORDS: number = MADE + 2 * MAX_STEPS;

/** Operations by their number in the log of steps. */
export const OPERATIONS = [
  "start",
  "load",
  "store",
  "add",
  "sub",
  "and",
  "or",
  "exchange",
  "compareExchange",
  "wait",
  "waitAsync",
  "notify",
  "event",
] as const;
export type OperationName = (typeof OPERATIONS)[number];

export function wordOf(thread: number, field: number): number {
  return FIRST_THREAD + thread * STRIDE + field;
}

/** Bits of an address for the word in its buffer; above them, which buffer. */
export const ADDRESS_BITS = 24;
