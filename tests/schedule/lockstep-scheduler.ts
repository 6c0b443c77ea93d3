/**
 * Who takes the next step. The thread that has the turn decides at each of its steps; a step after which it goes on needs no
 * other thread, so a run costs a few switches of threads and not one for each step.
 */
import * as protocol from "./lockstep-protocol.ts";

const { wordOf, STATE, TURN, OUTCOME } = protocol;

/** As they are before a thread replaces them. */
export const real = {
  load: Atomics.load,
  store: Atomics.store,
  add: Atomics.add,
  sub: Atomics.sub,
  and: Atomics.and,
  or: Atomics.or,
  exchange: Atomics.exchange,
  compareExchange: Atomics.compareExchange,
  wait: Atomics.wait,
  notify: Atomics.notify,
};

/** Kinds of options. */
const GO_ON = 0;
const TIME_OUT = 1;
const KILL = 2;
/** Goes on although nothing has changed. */
const FORCE = 3;

interface Option {
  readonly thread: number;
  readonly kind: typeof GO_ON | typeof TIME_OUT | typeof KILL | typeof FORCE;
  readonly preempts: boolean;
}

/** Of random choices at which the thread could go on, one in so many is among all that may happen: by the run. */
const GO_ON_TIMES = [4, 8, 16, 32] as const;
/** Of random choices that would kill a thread, how many do. */
const KILLS = 1 / 4;

export class Scheduler {
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #me: number;

  /** `me`: this thread; -1: the controller. */
  constructor(control: Int32Array<SharedArrayBuffer>, me: number) {
    this.#control = control;
    this.#me = me;
  }

  /** Gives the turn to the next thread, or ends the run. True: this thread keeps it. */
  pass(): boolean {
    const control = this.#control;
    for (;;) {
      const verdict = this.#verdict();
      if (verdict !== 0) {
        real.store(control, protocol.VERDICT, verdict);
        real.notify(control, protocol.VERDICT);
        return false;
      }
      const { thread, kind, preempts } = this.#choose();
      if (thread < 0) continue; // the verdict has been set
      if (preempts) control[protocol.PREEMPTIONS]!++;
      if (kind === KILL) {
        control[wordOf(thread, STATE)] = protocol.DEAD;
        continue;
      }
      if (kind === TIME_OUT) control[wordOf(thread, OUTCOME)] = protocol.TIMED_OUT;
      if (kind === FORCE) {
        control[wordOf(thread, protocol.FORCED)] = control[protocol.CHANGES]! + 1;
      }
      control[wordOf(thread, STATE)] = protocol.RUNNING;
      control[protocol.CURRENT] = thread;
      if (thread === this.#me) return true;
      this.handTo(thread);
      return false;
    }
  }

  handTo(thread: number): void {
    real.add(this.#control, wordOf(thread, TURN), 1);
    real.notify(this.#control, wordOf(thread, TURN));
  }

  #verdict(): number {
    const control = this.#control;
    if (control[protocol.VERDICT] !== 0) return control[protocol.VERDICT]!;
    let isComplete = true;
    for (let thread = 0; thread < control[protocol.THREADS]!; thread++) {
      const state = this.#stateOf(thread);
      if (state === protocol.FAILED) return protocol.FAILURE;
      if (state !== protocol.FINISHED && state !== protocol.DEAD) isComplete = false;
    }
    if (isComplete) return protocol.COMPLETE;
    return control[protocol.CHOICES] === protocol.MAX_STEPS ? protocol.ENDLESS : 0;
  }

  #choose(): Option {
    const control = this.#control;
    const options = this.#options();
    const none: Option = { thread: -1, kind: GO_ON, preempts: false };
    if (options.length === 0) {
      control[protocol.VERDICT] = this.#isSpinning() ? protocol.SPINNING : protocol.STUCK;
      return none;
    }
    const choice = control[protocol.CHOICES]!++;
    const at = protocol.choiceAt(choice);
    let chosen = 0;
    if (choice < control[protocol.PREFIX]!) chosen = control[at]!;
    else if (control[protocol.RANDOM] !== 0) chosen = this.#draw(options);
    if (chosen >= options.length) {
      control[protocol.VERDICT] = protocol.DIVERGED;
      return none;
    }
    control[at] = chosen;
    control[at + 1] = options.length;
    return options[chosen]!;
  }

  /** All that may happen next; first that the current thread goes on, if it can. */
  #options(): Option[] {
    const control = this.#control;
    const current = control[protocol.CURRENT]!;
    const threads = control[protocol.THREADS]!;
    const canGoOn = current >= 0 && this.#isRunnable(current);
    const mayPreempt = !canGoOn || control[protocol.PREEMPTIONS]! < control[protocol.BOUND]!;
    const options: Option[] = [];
    const offer = (thread: number, kind: Option["kind"]): void => {
      const preempts = canGoOn && thread !== current;
      if (!preempts || mayPreempt) options.push({ thread, kind, preempts });
    };
    if (canGoOn) offer(current, GO_ON);
    for (let thread = 0; thread < threads; thread++) {
      if (thread !== current && this.#isRunnable(thread)) offer(thread, GO_ON);
    }
    if (current >= 0 && this.#hasTimeout(current)) offer(current, TIME_OUT);
    for (let thread = 0; thread < threads; thread++) {
      if (thread !== current && this.#hasTimeout(thread)) offer(thread, TIME_OUT);
    }
    if (options.length === 0) {
      // Its time is over even if there is nothing new to see. Once: a look that changes nothing is the same the next time.
      for (let thread = 0; thread < threads; thread++) {
        if (this.#mayForce(thread)) offer(thread, FORCE);
      }
    }
    // Only at its own steps: to kill it later, before its next one, is the same for the others.
    const mortal = control[protocol.MORTAL]!;
    if (mortal >= 0 && mortal === current && !this.#isOver(mortal)) offer(mortal, KILL);
    return options;
  }

  #draw(options: readonly Option[]): number {
    const control = this.#control;
    const { thread, kind } = options[0]!;
    const mayGoOn = thread === control[protocol.CURRENT] && kind === GO_ON;
    const times = GO_ON_TIMES[control[protocol.RUN_SEED]! & (GO_ON_TIMES.length - 1)]!;
    if (mayGoOn && this.#random() * times >= 1) return 0;
    const chosen = Math.floor(this.#random() * options.length);
    return options[chosen]!.kind === KILL && this.#random() >= KILLS ? 0 : chosen;
  }

  #random(): number {
    const control = this.#control;
    let state = control[protocol.RANDOM]!;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    control[protocol.RANDOM] = state;
    return (state >>> 0) / 2 ** 32;
  }

  #stateOf(thread: number): number {
    return this.#control[wordOf(thread, STATE)]!;
  }

  #isOver(thread: number): boolean {
    const state = this.#stateOf(thread);
    return state === protocol.FINISHED || state === protocol.DEAD;
  }

  #isRunnable(thread: number): boolean {
    const control = this.#control;
    const state = this.#stateOf(thread);
    if (state === protocol.AT_STEP || state === protocol.WOKEN) return true;
    const since = control[wordOf(thread, protocol.SINCE)]!;
    if (state === protocol.PAUSED) return since < control[protocol.CHOICES]!;
    const mayLook = since < control[protocol.CHANGES]!;
    if (state === protocol.ASLEEP) return mayLook;
    if (state === protocol.AWAITS_END) return this.#isOver(control[protocol.MORTAL]!);
    if (state !== protocol.IN_LOOP) return false;
    const events = control[wordOf(thread, protocol.EVENTS)]!;
    if (control[wordOf(thread, protocol.ASYNC_OUTCOME)] === protocol.NOTIFIED) return true;
    return (events & protocol.DUE) !== 0 || ((events & protocol.SOON) !== 0 && mayLook);
  }

  /** Whether it is asleep or has a short timer, and has not looked at what there is now without a reason. */
  #mayForce(thread: number): boolean {
    const control = this.#control;
    const state = this.#stateOf(thread);
    const isAsleep = state === protocol.ASLEEP ||
      (state === protocol.IN_LOOP &&
        (control[wordOf(thread, protocol.EVENTS)]! & protocol.SOON) !== 0);
    return isAsleep &&
      control[wordOf(thread, protocol.FORCED)] !== control[protocol.CHANGES]! + 1;
  }

  #hasTimeout(thread: number): boolean {
    const state = this.#stateOf(thread);
    if (state === protocol.BLOCKED_WITH_TIMEOUT) return true;
    const events = this.#control[wordOf(thread, protocol.EVENTS)]!;
    return state === protocol.IN_LOOP && (events & protocol.LIMIT) !== 0;
  }

  #isSpinning(): boolean {
    for (let thread = 0; thread < this.#control[protocol.THREADS]!; thread++) {
      const state = this.#stateOf(thread);
      if (state === protocol.PAUSED || state === protocol.ASLEEP) return true;
    }
    return false;
  }
}
