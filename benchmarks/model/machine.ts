/**
 * Cores and threads: who runs, who waits for a core, who is blocked. An operating system in small: a
 * thread that becomes ready takes a free core, or the core of the thread that has had most of the
 * processor, or waits until some thread's slice ends.
 *
 * With `isSmt` all running threads advance at one rate, the average over full and shared cores: work
 * is kept in virtual time, which advances at that rate.
 */
import { type Costs, type MachineShape, SMT_SLOWDOWN } from "./costs.ts";
import { EventHeap } from "./event-heap.ts";

export const BLOCKED = 0;
export const READY = 1;
export const RUNNING = 2;

export const WORK = 0;
export const SPIN = 1;
export const WAKE = 2;
type Activity = typeof WORK | typeof SPIN | typeof WAKE;

/** How much a thread that has slept may be preferred to those that have not. */
const SLEEPER_CREDIT_US = 1500;

export class Thread {
  readonly name: string;
  state: typeof BLOCKED | typeof READY | typeof RUNNING = BLOCKED;
  activity: Activity = WORK;
  /** What is left of the present activity at full speed; endless while spinning. */
  leftUs = 0;
  /** Virtual time at which it ends, while running. */
  endsAt = 0;
  /** Called on a core: when the work is done, or to look around while spinning. */
  goOn: () => void = () => {};
  /** Grows with every change; an event that carries an older one is stale. */
  version = 0;
  onCoreSince = 0;
  usedUs = 0;
  /** The next poke that is due. */
  pokeAt = Infinity;
  readonly cpuUs: [work: number, spin: number, wake: number] = [0, 0, 0];

  constructor(name: string) {
    this.name = name;
  }
}

export class Machine {
  readonly cores: number;
  now = 0;
  events = 0;
  readonly #isSmt: boolean;
  readonly #sliceUs: number;
  readonly #timers = new EventHeap();
  readonly #ends = new EventHeap();
  readonly #running: Thread[] = [];
  readonly #ready: Thread[] = [];
  #virtual = 0;
  #rate = 1;
  #tickAt = Infinity;

  constructor(shape: MachineShape, costs: Costs) {
    this.cores = shape.cores;
    this.#isSmt = shape.isSmt === true && shape.cores > 1;
    this.#sliceUs = costs.sliceUs;
  }

  /** Runs `what` at a time of the clock, on no thread. */
  at(time: number, what: () => void): void {
    if (!(time >= this.now)) throw new RangeError(`${time} is before ${this.now}`);
    this.#timers.push(time, what);
  }

  /** On the thread's core: compute for so long, then go on. */
  work(thread: Thread, us: number, activity: Activity, goOn: () => void): void {
    this.#account(thread);
    thread.activity = activity;
    thread.leftUs = us;
    thread.goOn = goOn;
    this.#schedule(thread);
  }

  /** On the thread's core: spin; `look` is called at every poke, and each time it gets a core. */
  spin(thread: Thread, look: () => void): void {
    this.work(thread, Infinity, SPIN, look);
  }

  /** Makes a spinning thread look around, now or as soon as it has a core. */
  poke(thread: Thread): void {
    if (thread.state === RUNNING && thread.activity === SPIN) {
      this.#account(thread);
      thread.goOn();
    }
  }

  /** The same later. One is pending at most, or spinners that ask again at each look pile them up. */
  pokeAt(thread: Thread, time: number): void {
    if (time >= thread.pokeAt) return;
    thread.pokeAt = time;
    this.at(time, () => {
      if (thread.pokeAt === time) thread.pokeAt = Infinity;
      this.poke(thread);
    });
  }

  /** On the thread's core: give it up until `wake`. */
  block(thread: Thread): void {
    this.#leave(thread);
    thread.state = BLOCKED;
    this.#fill();
  }

  /** A blocked thread becomes ready; on a core it goes on with `goOn`. */
  wake(thread: Thread, goOn: () => void): void {
    if (thread.state !== BLOCKED) throw new Error(`${thread.name} is awake`);
    let leastUs = Infinity;
    for (const other of this.#running) leastUs = Math.min(leastUs, other.usedUs);
    if (leastUs < Infinity) thread.usedUs = Math.max(thread.usedUs, leastUs - SLEEPER_CREDIT_US);
    thread.activity = WORK;
    thread.leftUs = 0;
    thread.goOn = goOn;
    thread.state = READY;
    this.#ready.push(thread);
    this.#fill();
    if (thread.state !== READY) return;
    const victim = this.#mostUsed();
    if (victim.usedUs > thread.usedUs) this.#preempt(victim);
  }

  /** Runs until nothing happens any more or the clock passes `untilUs`. */
  run(untilUs = Infinity): void {
    for (;;) {
      const timer = this.#timers.peek();
      const end = this.#ends.peek();
      const endTime = end === undefined
        ? Infinity
        : this.now + Math.max(0, end.time - this.#virtual) / this.#rate;
      const timerTime = timer === undefined ? Infinity : timer.time;
      const time = Math.min(timerTime, endTime);
      if (time === Infinity || time > untilUs) return;
      this.events++;
      this.#virtual += (time - this.now) * this.#rate;
      this.now = time;
      const [heap, event] = timerTime <= endTime ? [this.#timers, timer] : [this.#ends, end];
      heap.pop();
      event!.run();
    }
  }

  #schedule(thread: Thread): void {
    const version = ++thread.version;
    if (thread.leftUs === Infinity) return;
    thread.endsAt = this.#virtual + thread.leftUs;
    this.#ends.push(
      thread.endsAt,
      () => {
        this.#account(thread);
        thread.goOn();
      },
      () => thread.version === version,
    );
  }

  /** Books the time on the core since the last look. */
  #account(thread: Thread): void {
    const us = this.now - thread.onCoreSince;
    if (us > 0) {
      thread.cpuUs[thread.activity] += us;
      thread.usedUs += us;
    }
    thread.onCoreSince = this.now;
  }

  #leave(thread: Thread): void {
    this.#account(thread);
    thread.version++;
    this.#running.splice(this.#running.indexOf(thread), 1);
    this.#setRate();
  }

  /** Gives free cores to ready threads, those first that have had least. */
  #fill(): void {
    while (this.#ready.length > 0 && this.#running.length < this.cores) {
      let best = 0;
      for (let index = 1; index < this.#ready.length; index++) {
        if (this.#ready[index]!.usedUs < this.#ready[best]!.usedUs) best = index;
      }
      const thread = this.#ready.splice(best, 1)[0]!;
      thread.state = RUNNING;
      thread.onCoreSince = this.now;
      this.#running.push(thread);
      this.#setRate();
      if (thread.activity === SPIN) {
        const version = ++thread.version;
        this.at(this.now, () => {
          if (thread.version === version) this.poke(thread);
        });
      } else this.#schedule(thread);
    }
    if (this.#ready.length > 0 && this.#tickAt === Infinity) {
      this.#tickAt = this.now + this.#sliceUs;
      this.at(this.#tickAt, () => this.#tick());
    }
  }

  /** The end of a slice. */
  #tick(): void {
    this.#tickAt = Infinity;
    for (let swaps = this.#ready.length; swaps > 0; swaps--) {
      const victim = this.#mostUsed();
      if (!this.#ready.some(({ usedUs }) => usedUs < victim.usedUs)) break;
      this.#preempt(victim);
    }
    this.#fill();
  }

  #mostUsed(): Thread {
    for (const thread of this.#running) this.#account(thread);
    let victim = this.#running[0]!;
    for (const thread of this.#running) if (thread.usedUs > victim.usedUs) victim = thread;
    return victim;
  }

  #preempt(thread: Thread): void {
    this.#leave(thread);
    if (thread.leftUs !== Infinity) thread.leftUs = Math.max(0, thread.endsAt - this.#virtual);
    thread.state = READY;
    this.#ready.push(thread);
    this.#fill();
  }

  #setRate(): void {
    if (!this.#isSmt) return;
    const physical = this.cores / 2;
    const count = this.#running.length;
    const perPair = 2 / SMT_SLOWDOWN;
    const paired = Math.max(0, count - physical);
    this.#rate = count === 0 ? 1 : (count - 2 * paired + paired * perPair) / count;
  }
}
