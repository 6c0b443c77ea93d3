/**
 * How the host waits for answers: bounded spin in a microtask, then park in the event loop.
 *
 * After the caller's synchronous code a microtask polls the response rings. While answers come, it
 * polls again microtask by microtask, so that continuations run in between, but never for more than
 * about a millisecond without letting the event loop turn (`park/turn-clock.ts`). When nothing comes
 * within the spin budget, or no core is free to spin on, it announces the park, looks once more and
 * returns; the worker that completes next posts one message. No polling by timers.
 */
import type { ActiveCount } from "../park/active-count.ts";
import type { HostParker } from "../park/host-word.ts";
import { CAME, MAY_COME } from "../park/patience.ts";
import { CAME_SOON, FUTILE, Spinner } from "../park/spinner.ts";
import { TurnClock } from "../park/turn-clock.ts";
import type { Runtime, Timer } from "../runtimes/runtime.ts";
import { SPUN_ALONE } from "./lane-load.ts";
import { ALONE, ANSWERED, NEAR, type Outlook } from "./lanes.ts";
import {
  AT_EASE,
  MOVED,
  NOTHING,
  OVERDUE,
  type ReliefOutcome,
  STUCK,
  UNDECIDED,
  type Urgency,
} from "./relief.ts";

/** Calls settled by one poll before their continuations get to run. */
const MAX_SETTLED_PER_POLL = 1024;
/** Longest time of polling and settling without a macrotask. */
const MAX_TURN_MS = 1;
/** Polls between two clock readings while what runs between them is quick. */
const MAX_CLOCK_STRIDE = 16;
/** Settlements that count as one poll more: their continuations run before the next poll. */
const SETTLED_PER_UNIT = 16;

/** Time between two looks at a worker that has calls and has not begun any, and how many there are. */
const LOOK_AGAIN_MS = 1;
const MAX_LOOKS = 10;

/** What the loop drives. */
export interface HostWork {
  /** Settles up to `max` answers; returns how many. */
  drain(max: number): number;
  /** Whether any response ring holds a record. */
  hasResponse(): boolean;
  /** Sends calls that wait on the host, if there is room for them now. */
  flush(): void;
  /** Between announcing a park and looking again: asks to be woken when there is room for them. */
  askForSpace(): void;
  /** Whether such a call could be sent now. */
  hasSpace(): boolean;
  /** One for each worker. */
  readonly lanes: readonly unknown[];
  /** What can be expected of them. */
  outlook(): Outlook;
  /** Whether a call may be waiting behind another that a further worker could run. */
  readonly isCrowded: boolean;
  /** Gives calls that wait behind others to workers that have nothing to do. */
  relieve(urgency: Urgency): ReliefOutcome;
  /** Whether calls wait on the host that some lane may take at some time. */
  readonly hasQueued: boolean;
  /** Whether a worker has calls that it has not answered. */
  readonly isBusy: boolean;
  /** The loop goes to sleep until a message comes. */
  onPark(): void;
  /** Nothing is outstanding any more. */
  onIdle(): void;
}

export interface HostLoopStatistics {
  /** Times the host announced that it goes to its event loop with calls outstanding. */
  parks: number;
  /** Wake messages received. */
  wakeMessages: number;
}

export class HostLoop {
  readonly statistics: HostLoopStatistics = { parks: 0, wakeMessages: 0 };
  readonly #work: HostWork;
  readonly #parker: HostParker;
  readonly #active: ActiveCount;
  readonly #turn: TurnClock;
  readonly #microtask: (callback: () => void) => void;
  readonly #runtime: Runtime;
  readonly #spinMs: number;
  readonly #spinner: Spinner;
  readonly #poll: () => void;
  #isScheduled = false;
  #secondLook: Timer | undefined;
  #looks = 0;
  /** Answers taken so far, and when the next look was agreed upon. */
  #answers = 0;
  #answersAtLook = 0;
  #isParked = false;

  /** `spinMs`: longest spin for an answer before parking. */
  constructor(
    runtime: Runtime,
    parker: HostParker,
    active: ActiveCount,
    work: HostWork,
    spinMs: number,
  ) {
    this.#runtime = runtime;
    this.#work = work;
    this.#spinMs = spinMs;
    this.#parker = parker;
    this.#active = active;
    this.#microtask = runtime.microtask;
    this.#poll = () => this.#pollOnce();
    this.#spinner = new Spinner({
      isReady: () => work.hasResponse(),
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
    // In this order: should the stack end here, the next call schedules the poll.
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
    if (!this.#isParked) return;
    const work = this.#work;
    if (work.hasQueued || (work.isCrowded && this.#relieve(STUCK))) this.kick();
  }

  /** True while the host waits for a message. */
  get isParked(): boolean {
    return this.#isParked;
  }

  #pollOnce(): void {
    const work = this.#work;
    this.#isScheduled = false;
    if (this.#isParked) {
      this.#isParked = false;
      // Losing the exchange means that a wake message is on its way: one spurious poll.
      this.#parker.cancel();
    }
    let settled = 0;
    let hasSpun = false;
    work.flush();
    const outlook = work.outlook();
    let isReady = outlook === ANSWERED;
    // What waits behind a long call is moved at once instead (#park).
    const isAlone = outlook === ALONE && !work.isCrowded &&
      this.#active.coresLeftBeside(1) >= work.lanes.length;
    if ((outlook === NEAR || isAlone) && this.#active.hasFreeCore) {
      const budgetMs = isAlone ? SPUN_ALONE * this.#spinMs : this.#spinMs;
      // What waits behind something is moved instead of spun for patiently, as soon as that may be (#park).
      const outcome = this.#spinner.spin(budgetMs, work.isCrowded);
      if (outcome === MAY_COME) {
        this.#isScheduled = true;
        this.#turn.yieldTurn();
        return;
      }
      hasSpun = outcome !== FUTILE;
      isReady = outcome === CAME_SOON || outcome === CAME;
    }
    if (isReady) this.#answers += settled = work.drain(MAX_SETTLED_PER_POLL);
    if (this.#turn.isOver(1 + settled / SETTLED_PER_UNIT)) {
      // Calls made until the macrotask comes are polled for there.
      this.#isScheduled = true;
      this.#turn.yieldTurn();
    } else if (!work.isBusy && !work.hasQueued) {
      work.onIdle();
    } else if (settled > 0) {
      this.kick();
    } else {
      // On few cores a worker may be late for want of one, which another worker would only take from it.
      this.#park(hasSpun && this.#active.coresLeft > 1 ? STUCK : AT_EASE);
    }
  }

  /** True: calls were given to another worker. */
  #relieve(urgency: Urgency): boolean {
    const outcome = this.#work.relieve(urgency);
    // A host that could not spin has no evidence that something is stuck: a millisecond will show.
    const isUnknown = outcome === NOTHING && urgency === AT_EASE && this.#work.isCrowded;
    if (outcome === UNDECIDED || isUnknown) this.#lookAgain();
    else this.#looks = 0;
    return outcome === MOVED;
  }

  /**
   * Calls wait in a worker that has not begun any of them. It may be waking up, or be kept by something
   * that is no call: looks again, and after some looks no longer waits for it.
   */
  #lookAgain(): void {
    if (this.#secondLook !== undefined) return;
    this.#answersAtLook = this.#answers;
    this.#secondLook = this.#runtime.setTimeout(() => {
      this.#secondLook = undefined;
      if (!this.#work.isBusy) {
        this.#looks = 0;
        return;
      }
      const isLast = ++this.#looks >= MAX_LOOKS;
      // Answers that came meanwhile may be of others, so they put it off but do not begin the count anew.
      if (!isLast && this.#answers !== this.#answersAtLook) {
        if (this.#isParked && this.#work.isCrowded) this.#lookAgain();
      } else if (this.#relieve(isLast ? OVERDUE : STUCK)) this.kick();
    }, LOOK_AGAIN_MS);
    this.#secondLook.unref();
  }

  /** `urgency`: of calls that wait behind others. */
  #park(urgency: Urgency): void {
    this.statistics.parks++;
    this.#parker.announce();
    this.#work.askForSpace();
    // SYNC(host-parked): the re-check that closes the window between the last poll and the park: for
    // answers, for room or a worker that rests for queued calls, and for such a worker for others.
    if (this.#work.hasResponse() || this.#work.hasSpace() || this.#relieve(urgency)) {
      this.#parker.cancel();
      this.kick();
      return;
    }
    this.#isParked = true;
    this.#spinner.endWait();
    this.#work.onPark();
  }
}
