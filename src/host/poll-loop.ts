/**
 * How the host waits for responses: it spins for a bounded time in a microtask, then parks in the event loop.
 *
 * After the caller's synchronous code a microtask polls the response rings. While responses arrive, the host polls
 * again microtask by microtask, so that continuations run in between, but it lets the event loop turn about once a
 * millisecond (`sync/turn-clock.ts`). If none arrives within the spin budget, or no core is free for spinning, it
 * announces the park, checks once more and returns. The worker that completes next posts one message. No timer
 * polls.
 */
import type { AwakeCount } from "../sync/awake-count.ts";
import { AdaptiveSpin } from "../sync/adaptive-spin.ts";
import type { HostParker } from "../sync/host-parking.ts";
import { TurnClock } from "../sync/turn-clock.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { type LaneSet, READY, SPIN } from "./balance/lane-set.ts";

/** Calls settled by one poll before their continuations run. */
const MAX_SETTLED_PER_POLL = 1024;
/** Longest time of polling and settling without a macrotask. */
const MAX_TURN_MS = 1;
/** Polls between two clock readings while the code between them is quick. */
const MAX_CLOCK_STRIDE = 16;
/** Settlements that count as one more poll: their continuations run before the next poll. */
const SETTLED_PER_UNIT = 16;

/** The work that the loop drives. */
export interface HostWork {
  readonly lanes: LaneSet;
  /** Whether calls wait on the host that a lane may take at some time. */
  readonly hasQueued: boolean;
  /** Repairs the state after a caller's stack overflowed. */
  recover(): void;
  /** Settles calls for up to `max` responses; returns how many. */
  drain(max: number): number;
  /** Sends calls that wait on the host, if there is room now. True: it sent some. */
  flush(): boolean;
  /** Moves calls that wait behind others to idle workers. True: it moved some. */
  rebalance(): boolean;
  /** The loop sleeps until a message arrives. */
  onPark(): void;
  /** No call is outstanding. */
  onIdle(): void;
}

export interface PollLoopStatistics {
  /** How often the host announced a park with calls outstanding. */
  parks: number;
  /** Wake messages received. */
  wakeMessages: number;
}

export class PollLoop {
  readonly statistics: PollLoopStatistics = { parks: 0, wakeMessages: 0 };
  readonly #work: HostWork;
  readonly #parker: HostParker;
  readonly #active: AwakeCount;
  readonly #turn: TurnClock;
  readonly #microtask: (callback: () => void) => void;
  readonly #now: () => number;
  readonly #spin: AdaptiveSpin;
  readonly #poll: () => void;
  #isScheduled = false;
  #isParked = false;
  #parkedMs = 0;

  /** `spinMs`: longest wait for a response that counts as short. */
  constructor(
    runtime: Runtime,
    parker: HostParker,
    active: AwakeCount,
    work: HostWork,
    spinMs: number,
  ) {
    this.#work = work;
    this.#now = runtime.now;
    this.#parker = parker;
    this.#active = active;
    this.#microtask = runtime.microtask;
    this.#poll = () => this.#pollOnce();
    this.#spin = new AdaptiveSpin({
      isReady: () => work.lanes.hasResponse,
      canContinue: () => active.hasFreeCore,
      pause: runtime.pause,
      now: runtime.now,
    }, spinMs);
    this.#turn = new TurnClock({
      now: runtime.now,
      macrotask: runtime.macrotask,
      turnsPerYield: runtime.turnsPerYield,
      maxTurnMs: MAX_TURN_MS,
      maxStride: MAX_CLOCK_STRIDE,
      onTurn: this.#poll,
    });
  }

  /** A call was submitted: poll after the caller's synchronous code. */
  kick(): void {
    if (this.#isScheduled) return;
    this.#microtask(this.#poll);
    this.#isScheduled = true;
  }

  /** A worker's wake message has arrived. */
  onWakeMessage(): void {
    this.statistics.wakeMessages++;
    if (!this.#isScheduled) this.#pollOnce();
  }

  /** A slow tick while calls are in flight: waiting calls may be sendable without any wake for the host. */
  onTick(): void {
    if (this.#isParked && (this.#work.hasQueued || this.#work.lanes.isCrowded)) this.kick();
  }

  /** True while the host waits for a message. */
  get isParked(): boolean {
    return this.#isParked;
  }

  #pollOnce(): void {
    const work = this.#work;
    const { lanes } = work;
    this.#isScheduled = false;
    if (this.#isParked) {
      this.#isParked = false;
      // If the exchange fails, a wake message is on its way: one spurious poll.
      this.#parker.cancel();
      this.#spin.slept(this.#now() - this.#parkedMs);
    }
    work.recover();
    work.flush();
    const waitHint = lanes.waitHint();
    let isReady = waitHint === READY;
    if (waitHint === SPIN && this.#active.hasFreeCore) {
      isReady = this.#spin.spin();
    }
    const settled = isReady ? work.drain(MAX_SETTLED_PER_POLL) : 0;
    if (this.#turn.isOver(1 + settled / SETTLED_PER_UNIT)) {
      // Calls made before that macrotask are polled for there.
      this.#isScheduled = true;
      this.#turn.yieldTurn();
    } else if (!lanes.isBusy && !work.hasQueued) {
      work.onIdle();
    } else if (settled > 0) {
      this.kick();
    } else {
      this.#park();
    }
  }

  #park(): void {
    const work = this.#work;
    const { lanes } = work;
    this.statistics.parks++;
    this.#parker.announce();
    if (work.hasQueued || lanes.isCrowded) lanes.requestSpace();
    // SYNC(host-parked): the check that closes the window between the last poll and the park. It looks for
    // responses, for room or an idle worker for queued calls, and for an idle worker for calls that wait in other
    // lanes.
    if (lanes.hasResponse || work.flush() || work.rebalance()) {
      this.#parker.cancel();
      this.kick();
      return;
    }
    this.#isParked = true;
    this.#parkedMs = this.#now();
    work.onPark();
  }
}
