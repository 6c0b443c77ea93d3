/**
 * How the host waits for responses: it spins for a bounded time in a microtask, then parks in the event loop.
 *
 * After the caller's synchronous code a microtask polls the response rings. While responses arrive, the host polls
 * again microtask by microtask, so that continuations run in between, but it lets the event loop turn about once a
 * millisecond (`sync/turn-clock.ts`). If none arrives while it spins, or it should not spin (`sync/spin-policy.ts`), it
 * announces the park, checks once more and returns. The worker that completes next posts one message. No timer
 * polls.
 *
 * A poll takes responses and settles their calls. All else that it may have to do is bookkeeping, which it does only
 * if it is due (`pending-work.ts`).
 *
 * A host that was woken and has settled every call announces its park again before it returns. So an infrequent call
 * finds it parked: its poll has nothing to announce, to withdraw or to check, and it settles in the poll of the next
 * message.
 */
import type { AwakeCount } from "../../sync/awake-count.ts";
import { Spin } from "../../sync/spin.ts";
import type { SpinPolicy } from "../../sync/spin-policy.ts";
import type { HostParker } from "../../sync/host-parking.ts";
import { TurnClock } from "../../sync/turn-clock.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { IDLE, type LaneSet, READY, SLEEP, SPIN, type WaitHint } from "../lanes/lane-set.ts";
import type { PendingWork } from "../calls/pending-work.ts";

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
  readonly pending: PendingWork;
  /** Calls that are not settled. */
  readonly inFlight: { readonly size: number };
  /** Whether calls wait on the host that a lane may take at some time. */
  readonly hasQueued: boolean;
  /** Repairs what a stack overflow interrupted, and sends calls that wait on the host. */
  doBookkeeping(): void;
  /** Settles calls for up to `max` responses; returns how many. */
  drain(max: number): number;
  /** Sends calls that wait on the host, if there is room now. True: it sent some. */
  flush(): boolean;
  /** Moves calls that wait behind others to idle workers. True: it moved some. */
  rebalance(): boolean;
  /** The loop sleeps until a message arrives. */
  onPark(): void;
  /** Calls are in flight, but no lane has any. */
  onIdle(): void;
}

/** What decides how the host waits, in its event loop and without it. */
export interface HostWaiting {
  readonly parker: HostParker;
  readonly active: AwakeCount;
  readonly policy: Pick<SpinPolicy, "spins" | "settled">;
  /** Longest spin, in milliseconds. */
  readonly spinMs: number;
}

export interface PollLoopStatistics {
  /** How often the host waited in its event loop with calls outstanding. */
  parks: number;
  /** Wake messages received. */
  wakeMessages: number;
}

export class PollLoop {
  readonly statistics: PollLoopStatistics = { parks: 0, wakeMessages: 0 };
  readonly #work: HostWork;
  readonly #lanes: LaneSet;
  readonly #pending: PendingWork;
  readonly #parker: HostParker;
  readonly #active: AwakeCount;
  readonly #turn: TurnClock;
  readonly #microtask: (callback: () => void) => void;
  readonly #policy: Pick<SpinPolicy, "spins" | "settled">;
  /** Of this host: for waits in `pool.sync` as well. */
  readonly spin: Spin;
  /** A call was submitted: poll after the caller's synchronous code. */
  readonly kick: () => void;
  #isScheduled = false;
  #isParked = false;

  constructor(
    runtime: Runtime,
    { parker, active, policy, spinMs }: HostWaiting,
    work: HostWork,
  ) {
    const { lanes } = work;
    this.#work = work;
    this.#lanes = lanes;
    this.#pending = work.pending;
    this.#policy = policy;
    this.#parker = parker;
    this.#active = active;
    this.#microtask = runtime.microtask;
    this.kick = work.pending.kick = () => {
      if (this.#isScheduled) return;
      this.#microtask(this.#poll);
      this.#isScheduled = true;
    };
    this.spin = new Spin({
      isReady: () => lanes.hasResponse,
      canContinue: () => policy.spins && active.hasFreeCore,
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

  /** A worker's wake message has arrived. */
  onWakeMessage(): void {
    this.statistics.wakeMessages++;
    this.#turn.turned();
    // Its sender has withdrawn the announcement. A message that comes late leaves another one, which costs one message.
    this.#isParked = false;
    if (!this.#isScheduled) this.#poll(true);
  }

  /** A slow tick while calls are in flight: waiting calls may be sendable without any wake for the host. */
  onTick(): void {
    const { isDue, marked } = this.#pending;
    if (this.#isParked && (isDue || marked !== undefined || this.#lanes.isCrowded)) this.kick();
  }

  /** The host is about to block, and looks for responses itself. The loop polls again when the event loop runs. */
  withdrawPark(): void {
    this.kick();
    if (!this.#isParked) return;
    this.#parker.cancel();
    this.#isParked = false;
  }

  /** True while the host waits for a message. */
  get isParked(): boolean {
    return this.#isParked;
  }

  /** `isWoken`: the poll of a wake message. Called as a microtask as well, by itself. */
  readonly #poll = (isWoken?: true): void => {
    const work = this.#work;
    const lanes = this.#lanes;
    const pending = this.#pending;
    this.#isScheduled = false;
    // After bookkeeping it parks anew: a lane may have ended between a worker's withdrawal of the park and its message.
    const wasDue = pending.isDue;
    if (wasDue || pending.marked !== undefined) work.doBookkeeping();
    const hint = lanes.waitHint();
    const policy = this.#policy;
    const mustSpin = hint === SPIN && policy.spins && this.#active.hasFreeCore;
    if (this.#isParked) {
      const isCrowded = lanes.open.length > 1 && lanes.isCrowded;
      if (hint !== READY && !mustSpin && !wasDue && !isCrowded) {
        this.#stayParked(hint);
        return;
      }
      // If the exchange fails, a wake message is on its way: one spurious poll.
      this.#parker.cancel();
      this.#isParked = false;
    }
    const isReady = mustSpin ? this.spin.spin() : hint === READY;
    const settled = isReady ? work.drain(MAX_SETTLED_PER_POLL) : 0;
    if (settled > 0) policy.settled(settled);
    if (this.#turn.isOver(1 + settled / SETTLED_PER_UNIT)) {
      // Calls made before that macrotask are polled for there.
      this.#isScheduled = true;
      this.#turn.yieldTurn();
    } else if (!lanes.isBusy && !(pending.isDue && work.hasQueued)) {
      this.#rest(isWoken);
    } else if (settled > 0 && !(isWoken && lanes.waitHint() === SLEEP)) {
      this.kick();
    } else {
      this.#park();
    }
  };

  /** No lane has calls. */
  #rest(isWoken: true | undefined): void {
    const work = this.#work;
    if (work.inFlight.size > 0) work.onIdle();
    if (!isWoken || this.#isScheduled) return;
    // SYNC(host-parked): no lane has calls, so there is nothing to check again. Calls made from now on are committed after
    // this store, and their workers see it. With frequent calls each would pay for this store and its withdrawal.
    this.#parker.announce();
    this.#isParked = true;
  }

  /** Calls were made while the host was parked, and no response comes soon. */
  #stayParked(hint: WaitHint): void {
    if (hint === IDLE) {
      if (this.#work.inFlight.size > 0) this.#work.onIdle(); // calls that no lane has
      return;
    }
    this.statistics.parks++;
    this.#work.onPark();
  }

  #park(): void {
    const work = this.#work;
    const lanes = this.#lanes;
    const { isDue } = this.#pending;
    this.statistics.parks++;
    this.#parker.announce();
    const isCrowded = lanes.open.length > 1 && lanes.isCrowded;
    if (isCrowded || (isDue && work.hasQueued)) lanes.requestSpace();
    // SYNC(host-parked): the check that closes the window between the last poll and the park. It looks for
    // responses, for room or an idle worker for queued calls, and for an idle worker for calls that wait in other
    // lanes.
    if (lanes.hasResponse || (isDue && work.flush()) || (isCrowded && work.rebalance())) {
      this.#parker.cancel();
      this.kick();
      return;
    }
    // A listener that the checks have run may have blocked (`pool.sync`), which withdraws the announcement.
    if (this.#isScheduled) return;
    this.#isParked = true;
    work.onPark();
  }
}
