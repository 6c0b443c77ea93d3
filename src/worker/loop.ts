/**
 * The worker loop: poll → run → reply → rest.
 *
 * Rest has three steps: spin while a core is free, block for at most a millisecond, return to the
 * event loop. It never blocks while async tasks are in flight, and under load it turns the event loop
 * at least every millisecond, so that tasks' own timers, sockets and promises keep running.
 */
import type { Endpoint } from "../lane/endpoint.ts";
import {
  FOR_CALLS,
  FOR_SPACE,
  FOR_TASKS,
  IS_CLOSING,
  LOOP_PARKS,
  WAITS_FOR,
} from "../lane/layout.ts";
import type { AwakeCount } from "../sync/awake-count.ts";
import { AdaptiveSpin } from "../sync/adaptive-spin.ts";
import { TurnClock } from "../sync/turn-clock.ts";
import { BLOCKED, IN_EVENT_LOOP, type Parker } from "../sync/worker-parking.ts";
import { EMPTY } from "../ring/consumer.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import type { Replies } from "./replies.ts";
import { TaskRunner, type TaskRunnerOptions } from "./run-task.ts";

/** Longest block before returning to the event loop. */
const BLOCK_MS = 1;
/** Longest time without a turn of the event loop while there is work. */
const MAX_TURN_MS = 1;
/** Records between two clock readings while records are quick. */
const MAX_CLOCK_STRIDE = 8;
/** Turns of the event loop spent looking at the ring while async tasks are in flight. */
const MAX_IDLE_TURNS = 16;

export interface WorkerLoopOptions extends TaskRunnerOptions {
  readonly runtime: Runtime;
  readonly parker: Parker;
  readonly active: AwakeCount;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly maxConcurrency: number;
  /** Longest wait for a call that counts as short, in milliseconds. */
  readonly spinMs: number;
  /** The event loop is about to turn, after work. */
  readonly onTurn: (() => void) | undefined;
  /** Whether the thread is about to end: nothing is begun any more. */
  readonly isDoomed: () => boolean;
  /** The host asked this worker to leave. May be called again. */
  readonly onClose: () => void;
  /** The loop cannot go on: shared memory is damaged. Must end the worker. */
  readonly onCrash: (error: unknown) => void;
}

export class WorkerLoop {
  readonly #runtime: Runtime;
  readonly #endpoint: Endpoint;
  readonly #replies: Replies;
  readonly #parker: Parker;
  readonly #active: AwakeCount;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #runner: TaskRunner;
  readonly #maxConcurrency: number;
  readonly #spin: AdaptiveSpin;
  readonly #onTurn: (() => void) | undefined;
  readonly #onClose: () => void;
  readonly #onCrash: (error: unknown) => void;
  readonly #turn: TurnClock;
  readonly #run: () => void;
  #idleTurns = 0;
  /** When the worker went to sleep with nothing in flight. */
  #sleptAtMs = 0;
  /** How long it slept the last time. */
  #lastSleepMs = 0;
  #isParkedInLoop = false;

  constructor(options: WorkerLoopOptions) {
    this.#runtime = options.runtime;
    this.#endpoint = options.endpoint;
    this.#replies = options.replies;
    this.#parker = options.parker;
    this.#active = options.active;
    this.#control = options.control;
    this.#runner = new TaskRunner(options, (answer) => this.#answerLater(answer));
    this.#maxConcurrency = options.maxConcurrency;
    this.#onTurn = options.onTurn;
    this.#onClose = options.onClose;
    this.#onCrash = options.onCrash;
    const { isDoomed } = options;
    this.#run = () => {
      if (isDoomed()) return;
      try {
        this.#work();
      } catch (error) {
        this.#onCrash(error);
      }
    };
    this.#turn = new TurnClock({
      now: this.#runtime.now,
      soon: this.#runtime.soon,
      turnsPerYield: this.#runtime.turnsPerYield,
      maxTurnMs: MAX_TURN_MS,
      maxStride: MAX_CLOCK_STRIDE,
      onTurn: this.#run,
    });
    const active = this.#active;
    this.#spin = new AdaptiveSpin({
      isReady: () => this.#hasWork(),
      mayGoOn: () => active.hasFreeCore && !this.#isClosing(),
      pause: this.#runtime.pause,
      now: this.#runtime.now,
    }, options.spinMs);
  }

  /** Takes up work for the first time. */
  start(): void {
    this.#run();
  }

  /** A wake message has arrived. */
  onWakeMessage(): void {
    // Not parked: a message that lost a race against this worker's own resuming, and no matter.
    if (this.#isParkedInLoop) this.#resume();
  }

  #work(): void {
    for (;;) {
      if (this.#replies.hasBacklog && !this.#replies.flush()) {
        if (this.#rest()) continue;
        return;
      }
      const index = this.#isAccepting() ? this.#endpoint.rx.poll() : EMPTY;
      if (index === EMPTY) {
        if (this.#rest()) continue;
        return;
      }
      this.#idleTurns = 0;
      this.#runner.run(index);
      // With async tasks in flight every record is timed: their timers and I/O are waiting.
      if (this.#turn.isOver(this.#runner.inFlight > 0 ? MAX_CLOCK_STRIDE : 1)) {
        this.#yieldTurn();
        return;
      }
      if (this.#runner.inFlight > 0) {
        // Lets the task's promise callbacks run, which may already hold its answer.
        this.#runtime.microtask(this.#run);
        return;
      }
    }
  }

  /** Nothing to do now. True: there is again; false: the loop will be called back. */
  #rest(): boolean {
    if (this.#isClosing()) {
      // SYNC(close): what was sent before the word was set is seen once that is. Pairs with Lane.close.
      if (this.#hasWork()) return true;
      this.#onClose();
      return false;
    }
    if (this.#runner.inFlight === 0) {
      if (this.#active.hasFreeCore && this.#spin.spin()) return true;
      this.#sleptAtMs = this.#runtime.now();
      // Where calls come rarely it would wake up twice for each.
      if (this.#lastSleepMs < BLOCK_MS && this.#block()) {
        if (!this.#turn.check(this.#runtime.now())) return true;
        this.#yieldTurn();
        return false;
      }
    } else if (this.#isAccepting() && this.#idleTurns < MAX_IDLE_TURNS) {
      this.#idleTurns++;
      if (this.#active.hasFreeCore) {
        this.#runtime.soon(this.#run);
        return false;
      }
    }
    return this.#parkInLoop();
  }

  /** Blocks for a moment. True: there is work. */
  #block(): boolean {
    const parker = this.#parker;
    this.#handBackSpace();
    this.#sayWhatFor();
    this.#announce(BLOCKED);
    // The re-check that closes the window between the last poll and the wait.
    if (this.#hasWork() || this.#isClosing()) parker.cancel(BLOCKED);
    else parker.block(BLOCK_MS);
    if (!this.#hasWork() && !this.#isClosing()) return false;
    this.#endSleep();
    return true;
  }

  #endSleep(): void {
    if (this.#runner.inFlight > 0) return;
    this.#lastSleepMs = this.#runtime.now() - this.#sleptAtMs;
    this.#spin.slept(this.#lastSleepMs);
  }

  #yieldTurn(): void {
    this.#onTurn?.();
    this.#turn.yieldTurn();
  }

  /** Returns to the event loop without limit. True: there is work after all. */
  #parkInLoop(): boolean {
    this.#onTurn?.();
    this.#handBackSpace();
    this.#sayWhatFor();
    this.#announce(IN_EVENT_LOOP);
    // The re-check that closes the window between the last poll and the return.
    if (this.#hasWork() || this.#isClosing()) {
      this.#leaveLoop();
      return true;
    }
    // Not before: what it says is that there was nothing to do after the announcement.
    this.#isParkedInLoop = true;
    Atomics.add(this.#control, LOOP_PARKS, 1);
    return false;
  }

  #announce(state: typeof BLOCKED | typeof IN_EVENT_LOOP): void {
    this.#parker.announce(state);
    this.#replies.askForSpace();
    // The host may be keeping calls for the first worker that has nothing to do.
    this.#replies.wakeForSpace();
  }

  #leaveLoop(): void {
    this.#idleTurns = 0;
    // Losing the exchange means that a message is on its way: ignored when it comes.
    this.#parker.cancel(IN_EVENT_LOOP);
  }

  #resume(): void {
    this.#isParkedInLoop = false;
    Atomics.add(this.#control, LOOP_PARKS, 1);
    this.#leaveLoop();
    this.#endSleep();
    this.#run();
  }

  /** All released space of the request ring goes back to the host, which may be waiting for it. */
  #handBackSpace(): void {
    this.#endpoint.rx.publish();
    this.#replies.wakeForSpace();
  }

  /** Whether calls are being taken: not with answers stuck, nor with too many tasks in flight. */
  #isAccepting(): boolean {
    return this.#runner.inFlight < this.#maxConcurrency && !this.#replies.hasBacklog;
  }

  /** For the safety re-check: what the park that is being announced waits for. */
  #sayWhatFor(): void {
    const waitsFor = this.#replies.hasBacklog
      ? FOR_SPACE
      : this.#runner.inFlight < this.#maxConcurrency
      ? FOR_CALLS
      : FOR_TASKS;
    Atomics.store(this.#control, WAITS_FOR, waitsFor);
  }

  #hasWork(): boolean {
    if (this.#replies.hasBacklog) {
      if (this.#replies.hasSpace) return true;
    } else if (this.#runner.inFlight < this.#maxConcurrency && this.#endpoint.rx.hasRecord) {
      return true;
    }
    return false;
  }

  #isClosing(): boolean {
    return Atomics.load(this.#control, IS_CLOSING) === 1;
  }

  /** The promise of a task has settled. */
  #answerLater(answer: () => void): void {
    try {
      // Meanwhile it does not rest.
      if (this.#isParkedInLoop) Atomics.add(this.#control, LOOP_PARKS, 1);
      answer();
      if (this.#isParkedInLoop) Atomics.add(this.#control, LOOP_PARKS, 1);
      this.#afterAsync();
    } catch (error) {
      this.#onCrash(error);
    }
  }

  /**
   * An answer given while the worker is parked in its event loop may change what it waits for: it can
   * take calls again, or it has a backlog now.
   */
  #afterAsync(): void {
    if (!this.#isParkedInLoop) return;
    this.#replies.askForSpace();
    if (this.#hasWork()) this.#resume();
    else {
      this.#sayWhatFor();
      // The host may have looked for a worker that rests just before that was said. Pairs as an announced park does.
      this.#replies.wakeForSpace();
    }
  }
}
