/**
 * The worker loop: poll → run → respond → idle.
 *
 * Idling has three steps: spin while a core is free, block for at most a millisecond, return to the
 * event loop. While async tasks are in flight it never blocks, and spins in turns of the event loop. Under load it turns the event loop
 * at least every millisecond, so that tasks' own timers, sockets and promises keep running.
 */
import type { Endpoint } from "../lane/endpoint.ts";
import {
  FOR_CALLS,
  FOR_SPACE,
  FOR_TASKS,
  HOST_SPINS,
  IS_CLOSING,
  LOOP_PARKS,
  WAITS_FOR,
} from "../lane/layout.ts";
import type { AwakeCount } from "../sync/awake-count.ts";
import { Spin, type SpinOptions } from "../sync/spin.ts";
import { SpinInTurns } from "../sync/spin-in-turns.ts";
import { TurnClock } from "../sync/turn-clock.ts";
import { BLOCKED, IN_EVENT_LOOP, type Parker } from "../sync/worker-parking.ts";
import { EMPTY } from "../ring/consumer.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import type { Replies } from "./replies.ts";
import { TaskRunner } from "./calls/run-task.ts";
import type { WorkerCore } from "./worker-core.ts";

/** Longest block before returning to the event loop. */
const BLOCK_MS = 1;
/** After longer sleeps than this a block would end without a call: less than `BLOCK_MS`. */
const MAX_NEAR_MS = 0.75;
/** After longer sleeps than this the next one is timed by the coarse clock, which cannot tell sleeps below a millisecond. */
const MAX_TIMED_SLEEP_MS = 2;
/** Longest time without a turn of the event loop while there is work. */
const MAX_TURN_MS = 1;
/** Records between two clock readings while tasks are short. */
const MAX_CLOCK_STRIDE = 8;

export class WorkerLoop {
  readonly runner: TaskRunner;
  readonly #core: WorkerCore;
  readonly #runtime: Runtime;
  readonly #endpoint: Endpoint;
  readonly #replies: Replies;
  readonly #parker: Parker;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #maxConcurrency: number;
  readonly #spin: Spin;
  readonly #spinMs: number;
  readonly #spinOptions: SpinOptions;
  /** While async tasks are in flight. */
  #spinInTurns: SpinInTurns | undefined;
  readonly #onClose: () => void;
  readonly #turn: TurnClock;
  readonly #run: () => void;
  /** Units of work since the turn clock was asked. */
  #units = 0;
  /** When the worker went to sleep with nothing in flight, by the precise or by the coarse clock. */
  #sleptAtMs = 0;
  #isAsleep = false;
  #isSleepTimed = true;
  /** Duration of the last sleep. */
  #lastSleepMs = 0;
  /** As stored in WAITS_FOR. */
  #waitsFor: typeof FOR_CALLS | typeof FOR_SPACE | typeof FOR_TASKS = FOR_CALLS;
  #isParkedInLoop = false;
  #isResponding = false;

  /** `onClose`: called when the host has requested this worker's exit, possibly more than once. */
  constructor(core: WorkerCore, parker: Parker, active: AwakeCount, onClose: () => void) {
    const { runtime, start, site: { parent } } = core;
    this.#core = core;
    this.#runtime = runtime;
    this.#endpoint = core.endpoint;
    this.#replies = core.replies;
    this.#parker = parker;
    this.#control = core.control;
    this.runner = new TaskRunner(core, (respond) => this.#respondLater(respond));
    this.#maxConcurrency = start.maxConcurrency;
    this.#onClose = onClose;
    this.#run = () => {
      if (!parent.isTerminating()) this.#work(); // a thread that is about to end starts no further calls
    };
    this.#turn = new TurnClock({
      now: runtime.now,
      macrotask: runtime.macrotask,
      turnsPerYield: runtime.turnsPerYield,
      maxTurnMs: MAX_TURN_MS,
      maxStride: MAX_CLOCK_STRIDE,
      onTurn: this.#run,
    });
    const hostWords = new Int32Array(start.hostControl);
    this.#spinOptions = {
      isReady: () => this.#hasWork,
      canContinue: () =>
        Atomics.load(hostWords, HOST_SPINS) === 1 && active.hasFreeCore && !this.#isClosing(),
      pause: runtime.pause,
      now: runtime.now,
    };
    this.#spinMs = core.staysInLoop ? 0 : start.spinMs;
    this.#spin = new Spin(this.#spinOptions, this.#spinMs);
  }

  /** Whether it is certain that no call is in flight. */
  get isIdle(): boolean {
    return this.runner.inFlight === 0 && (this.#isParkedInLoop || this.#isClosing());
  }

  /** Starts the loop. */
  start(): void {
    this.#run();
  }

  /** Handles a wake message. */
  onWakeMessage(): void {
    // If it is not parked, the message lost a race against this worker's own resume and can be ignored.
    if (!this.#isParkedInLoop) return;
    if (this.#turn.turned()) this.#units = 0;
    this.#leavePark();
    this.#work();
  }

  #work(): void {
    try {
      const { rx } = this.#endpoint;
      const runner = this.runner;
      for (;;) {
        if (this.#replies.waiting > 0 && !this.#replies.flush()) {
          if (this.#rest()) continue;
          return;
        }
        const index = runner.inFlight === 0 || this.#hasCapacity ? rx.poll() : EMPTY;
        if (index === EMPTY) {
          if (this.#rest()) continue;
          return;
        }
        // Asked before the next call, not after the last one: then the worker parks, which is a turn of its own.
        if (this.#turn.isOver(this.#units)) {
          this.#yieldTurn();
          return;
        }
        if (this.#spinInTurns?.turns) this.#spinInTurns.end();
        this.#units = runner.run(index) ? MAX_CLOCK_STRIDE : 1;
        if (runner.inFlight > 0) {
          // The clock is read before every record now, since tasks' timers and I/O need turns. The microtask lets a task's
          // promise callbacks run, which may already settle it.
          this.#units = MAX_CLOCK_STRIDE;
          this.#runtime.microtask(this.#run);
          return;
        }
      }
    } catch (error) {
      this.#core.site.crash(error);
    }
  }

  /** Waits when there is nothing to do. True: there is work again; false: the loop will be called back. */
  #rest(): boolean {
    if (this.runner.inFlight === 0) {
      if (this.#spinInTurns?.turns) this.#spinInTurns.end();
      if (this.#spin.spin()) return true;
      // With infrequent calls, blocking would cost two wake-ups for each.
      if (this.#lastSleepMs < MAX_NEAR_MS && this.#block()) {
        if (!this.#turn.check(this.#runtime.now())) return true;
        this.#yieldTurn();
        return false;
      }
    } else if (this.#replies.waiting === 0 && this.#hasCapacity) {
      this.#spinInTurns ??= new SpinInTurns(this.#spinOptions, this.#spinMs);
      if (this.#spinInTurns.again()) {
        this.#runtime.macrotask(this.#run);
        return false;
      }
    }
    return this.#parkInLoop();
  }

  /** Blocks for at most `BLOCK_MS`. True: there is work. */
  #block(): boolean {
    const parker = this.#parker;
    this.#beginSleep();
    this.#announce(BLOCKED);
    // The re-check that closes the window between the last poll and the wait.
    if (this.#hasWork || this.#isClosing()) parker.cancel(BLOCKED);
    else parker.block(BLOCK_MS);
    if (!this.#hasWork) return false; // the sleep goes on in the event loop
    this.#endSleep();
    return true;
  }

  /** With nothing in flight. */
  #beginSleep(): void {
    if (this.#isAsleep) return;
    this.#isAsleep = true;
    // The precise clock costs several function calls, which infrequent calls would notice.
    this.#isSleepTimed = this.#lastSleepMs < MAX_TIMED_SLEEP_MS;
    const coarseMs = this.#runtime.coarseNow();
    this.#sleptAtMs = this.#isSleepTimed ? this.#runtime.now() : coarseMs;
    this.#core.gauges.sleeps(coarseMs);
  }

  #endSleep(): void {
    if (!this.#isAsleep) return;
    this.#isAsleep = false;
    const coarseMs = this.#runtime.coarseNow();
    const nowMs = this.#isSleepTimed ? this.#runtime.now() : coarseMs;
    this.#lastSleepMs = nowMs - this.#sleptAtMs;
    this.#core.gauges.woke(coarseMs);
  }

  #yieldTurn(): void {
    this.#core.onTurn?.();
    this.#turn.yieldTurn();
  }

  /** Parks in the event loop without a time limit. True: the re-check found work. */
  #parkInLoop(): boolean {
    this.#core.onTurn?.();
    if (this.runner.inFlight === 0) this.#beginSleep();
    this.#announce(IN_EVENT_LOOP);
    // The re-check that closes the window between the last poll and the return.
    const isClosing = Atomics.load(this.#control, IS_CLOSING) !== 0;
    // SYNC(close): records sent before the word was set are visible once it is seen. Pairs with ThreadLane.#ask.
    if (this.#hasWork) {
      this.#leavePark();
      return true;
    }
    if (isClosing) {
      this.#leavePark();
      this.#onClose();
      return false;
    }
    // Set only now: it states that there was no work after the announcement.
    this.#isParkedInLoop = true;
    this.#core.onParked?.();
    Atomics.add(this.#control, LOOP_PARKS, 1);
    return false;
  }

  /** Publishes all released space of the request ring, then announces a park. */
  #announce(state: typeof BLOCKED | typeof IN_EVENT_LOOP): void {
    const replies = this.#replies;
    this.#endpoint.rx.publish();
    if (this.#waitsFor !== FOR_CALLS || this.runner.inFlight > 0 || replies.waiting > 0) {
      this.#storeWaitReason();
    }
    this.#parker.announce(state);
    if (replies.waiting > 0) replies.requestSpace();
    // The host may be waiting for that space, or keeping calls for the first idle worker.
    replies.wakeForSpace();
  }

  /** Withdraws an announcement of waiting in the event loop. */
  #leavePark(): void {
    if (this.#isParkedInLoop) {
      this.#isParkedInLoop = false;
      Atomics.add(this.#control, LOOP_PARKS, 1);
    }
    // If the exchange fails, a message is on its way and will be ignored.
    this.#parker.cancel(IN_EVENT_LOOP);
    this.#endSleep();
  }

  /** A stream that waits for its reader does not count: the reader may need further calls to go on. */
  get #hasCapacity(): boolean {
    return this.runner.inFlight - this.runner.paused < this.#maxConcurrency;
  }

  /** Stores what the announced park waits for, for the safety re-check. */
  #storeWaitReason(): void {
    const waitsFor = this.#replies.waiting > 0
      ? FOR_SPACE
      : this.runner.inFlight === 0 || this.#hasCapacity
      ? FOR_CALLS
      : FOR_TASKS;
    if (waitsFor === this.#waitsFor) return;
    this.#waitsFor = waitsFor;
    Atomics.store(this.#control, WAITS_FOR, waitsFor);
  }

  get #hasWork(): boolean {
    if (this.#replies.waiting > 0) return this.#replies.hasSpace;
    return (this.runner.inFlight === 0 || this.#hasCapacity) && this.#endpoint.rx.hasRecord;
  }

  #isClosing(): boolean {
    return Atomics.load(this.#control, IS_CLOSING) !== 0;
  }

  /** Sends the outcome of a task whose promise has settled, or items of a stream. */
  #respondLater(respond: () => void): void {
    if (this.#isResponding) {
      respond();
      return;
    }
    this.#isResponding = true;
    try {
      // The worker does not idle meanwhile.
      if (this.#isParkedInLoop) Atomics.add(this.#control, LOOP_PARKS, 1);
      respond();
      if (this.#isParkedInLoop) Atomics.add(this.#control, LOOP_PARKS, 1);
      this.#isResponding = false;
      this.#afterAsync();
    } catch (error) {
      this.#core.site.crash(error);
    }
  }

  /**
   * A response sent while the worker is parked in its event loop may change what it waits for: it can
   * accept calls again, or it has a backlog now.
   */
  #afterAsync(): void {
    if (!this.#isParkedInLoop) return;
    this.#replies.requestSpace();
    if (this.#hasWork) {
      this.#leavePark();
      this.#run();
    } else {
      if (this.runner.inFlight === 0) this.#beginSleep();
      this.#storeWaitReason();
      // The host may have looked for an idle worker just before that store. Pairs as an announced park does.
      this.#replies.wakeForSpace();
    }
  }
}
