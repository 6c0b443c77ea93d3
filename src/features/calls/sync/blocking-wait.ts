/**
 * How the host waits for a call without its event loop (`pool.sync`): it takes responses, spins, and then blocks on the pool's
 * parked word, which the worker that responds next notifies.
 *
 * Messages, timers and promise callbacks do not run meanwhile. What the pool needs of them is done here: the start and the end
 * of workers are read from their control words, and its own timers that are due run at intervals. Calls that were in
 * flight before are settled as well; their callers hear of it when the event loop runs again.
 */
import type { Runtime } from "../../../runtimes/runtime.ts";
import type { HostWaiting, HostWork, PollLoop } from "../../../host/dispatch/poll-loop.ts";

/** Interval of what no worker wakes the host for: timers, stalled workers, threads that ended without a word. */
const TICK_MS = 10;

/** Waits after which it does so as well: a program may make calls that are answered at once, and never run its event loop. */
const WAITS_PER_TICK = 256;

/** Responses taken in one round. */
const MAX_TAKEN = 1024;
/** Rounds with responses of others, such as events, until the clock is read. */
const ROUNDS_PER_CLOCK = 16;

/** What the wait needs of the pool beyond its calls. */
interface BlockingWork {
  /** Notices that workers have started or ended; then returns true. `isTick`: checks what has no wake as well, time limits for example. */
  check(isTick: boolean): boolean;
  /** A wait begins. */
  begin?(): void;
  /** Handles what workers have asked among their responses. */
  takeRequests(): void;
}

export interface BlockingWaitOptions {
  readonly runtime: Pick<Runtime, "now">;
  readonly waiting: Pick<HostWaiting, "parker" | "policy">;
  readonly calls: HostWork;
  readonly loop: Pick<PollLoop, "withdrawPark" | "spin">;
  readonly pool: BlockingWork;
}

export class BlockingWait {
  readonly #options: BlockingWaitOptions;
  #waits = 0;

  constructor(options: BlockingWaitOptions) {
    this.#options = options;
  }

  /** Blocks this thread until `isOver`, which runs no user code. */
  until(isOver: () => boolean): void {
    const { runtime, calls, loop, pool, waiting: { policy } } = this.#options;
    loop.withdrawPark();
    pool.begin?.();
    if (++this.#waits % WAITS_PER_TICK === 0) this.#service(true);
    let tickMs = 0;
    for (let round = 1;; round++) {
      const settled = calls.lanes.isBusy ? calls.drain(MAX_TAKEN) : 0;
      if (settled > 0) {
        policy.settled(settled);
        pool.takeRequests();
        if (isOver()) return;
      }
      if (calls.lanes.isBusy && round % ROUNDS_PER_CLOCK !== 0 && loop.spin.spin()) continue;
      const nowMs = runtime.now();
      const isTick = nowMs >= tickMs;
      if (isTick) tickMs = nowMs + TICK_MS;
      this.#service(isTick);
      if (isOver()) return;
      this.#block();
    }
  }

  #service(isTick: boolean): void {
    const { calls, pool } = this.#options;
    pool.check(isTick);
    if (calls.pending.isDue || calls.pending.marked !== undefined) calls.doBookkeeping();
    if (calls.lanes.open.length > 1 && calls.lanes.isCrowded) calls.rebalance();
  }

  #block(): void {
    const { calls, pool, waiting: { parker } } = this.#options;
    const { lanes, pending } = calls;
    parker.announceBlock();
    if (lanes.isCrowded || (pending.isDue && calls.hasQueued)) lanes.requestSpace();
    // SYNC(host-parked): the check that closes the window between the last look and the block: responses, room for calls
    // that wait on the host, workers that have started or ended.
    const hasNews = lanes.hasResponse || (pending.isDue && calls.flush()) || pool.check(false);
    if (hasNews) return parker.cancelBlock();
    parker.block(TICK_MS);
  }
}
