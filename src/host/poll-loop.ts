/**
 * How the host waits for answers: bounded spin in a microtask, then park in the event loop.
 *
 * After the caller's synchronous code a microtask polls the response rings. While answers come, it
 * polls again microtask by microtask, so that continuations run in between, but never for more than
 * about a millisecond without letting the event loop turn (`sync/turn-clock.ts`). When nothing comes
 * within the spin budget, or no core is free to spin on, it announces the park, looks once more and
 * returns; the worker that completes next posts one message. No polling by timers.
 */
import type { AwakeCount } from "../sync/awake-count.ts";
import { AdaptiveSpin } from "../sync/adaptive-spin.ts";
import type { HostParker } from "../sync/host-parking.ts";
import { TurnClock } from "../sync/turn-clock.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { type LaneSet, READY, SPIN } from "./balance/lane-set.ts";

/** Calls settled by one poll before their continuations get to run. */
const MAX_SETTLED_PER_POLL = 1024;
/** Longest time of polling and settling without a macrotask. */
const MAX_TURN_MS = 1;
/** Polls between two clock readings while what runs between them is quick. */
const MAX_CLOCK_STRIDE = 16;
/** Settlements that count as one poll more: their continuations run before the next poll. */
const SETTLED_PER_UNIT = 16;

/** What the loop drives. */
export interface HostWork {
  readonly lanes: LaneSet;
  /** Whether calls wait on the host that some lane may take at some time. */
  readonly hasQueued: boolean;
  /** Sets right what the end of a caller's stack has cut off. */
  recover(): void;
  /** Settles up to `max` answers; returns how many. */
  drain(max: number): number;
  /** Sends calls that wait on the host, if there is room for them now. True: some. */
  flush(): boolean;
  /** Gives calls that wait behind others to workers that have nothing to do. True: some. */
  rebalance(): boolean;
  /** The loop goes to sleep until a message comes. */
  onPark(): void;
  /** Nothing is outstanding any more. */
  onIdle(): void;
}

export interface PollLoopStatistics {
  /** Times the host announced that it goes to its event loop with calls outstanding. */
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

  /** `spinMs`: longest wait for an answer that counts as short. */
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
      mayGoOn: () => active.hasFreeCore,
      pause: runtime.pause,
      now: runtime.now,
    }, spinMs);
    this.#turn = new TurnClock({
      now: runtime.now,
      soon: runtime.soon,
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

  /** A slow tick while calls are in flight: what waits may go now, though nothing has told the host. */
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
      // Losing the exchange means that a wake message is on its way: one spurious poll.
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
      // Calls made until the macrotask comes are polled for there.
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
    if (work.hasQueued || lanes.isCrowded) lanes.askForSpace();
    // SYNC(host-parked): the re-check that closes the window between the last poll and the park: for
    // answers, for room or a worker that rests for queued calls, and for such a worker for others.
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
