/**
 * One worker and its two rings: takes calls in order, answers, wakes a parked host, spins a little and
 * blocks. `unanswered` and `countOf` are the host's side of the books.
 */
import type { Call, Estimates } from "./call.ts";
import type { Costs } from "./costs.ts";
import { Fifo } from "./event-heap.ts";
import { type Machine, SPIN, Thread, WAKE, WORK } from "./machine.ts";

/**
 * What the host takes for a lane's backlog: all calls not settled yet; none if the worker's wake word
 * says that it sleeps (it has read everything then); or all calls not answered yet, by a count that the
 * worker publishes.
 */
export type Knowledge = "settled" | "asleep" | "answered";

/** What a lane needs from the host and shares with the other lanes. */
export interface Surroundings {
  readonly machine: Machine;
  readonly costs: Costs;
  readonly workerSpinUs: number;
  /** Awake workers, in shared memory. */
  readonly awake: { count: number };
  /** An answer is in the ring; true if the host was parked and this worker is to post the wake. */
  onAnswer(call: Call): boolean;
  /** The posted wake has arrived. */
  onPosted(): void;
}

export class Lane {
  readonly id: number;
  readonly thread: Thread;
  readonly requests: Fifo<Call> = new Fifo<Call>();
  readonly responses: Fifo<Call> = new Fifo<Call>();
  /** The wake word says 0. */
  isAwake = false;
  running: Call | undefined;
  unanswered = 0;
  wakes = 0;
  served = 0;
  /** Unanswered calls by task. */
  readonly countOf: number[] = [];
  /** The same without those whose answers the host could read already. */
  readonly openOf: number[] = [];
  /** When the host last saw this lane begin something: a call sent to it idle, or an answer. */
  headSince = 0;
  readonly #around: Surroundings;
  #spinEndsAt = 0;

  constructor(id: number, around: Surroundings) {
    this.id = id;
    this.thread = new Thread(`worker ${id}`);
    this.#around = around;
  }

  /** Calls that can still be taken back, the one the worker takes next left to it. */
  get revocable(): number {
    return this.running === undefined ? this.requests.size - 1 : this.requests.size;
  }

  /** Host: what its calls will take, as far as `knowledge` goes; Infinity if one is unknown. */
  backlogUs(estimates: Estimates, knowledge: Knowledge): number {
    if (this.unanswered === 0 || (knowledge !== "settled" && !this.isAwake)) return 0;
    const counts = knowledge === "answered" ? this.openOf : this.countOf;
    let us = 0;
    for (let task = 0; task < counts.length; task++) {
      const count = counts[task]!;
      if (count > 0) us += count * (estimates.of(task) ?? Infinity);
    }
    return us;
  }

  /** Host: the longest of the calls it has not answered; Infinity if one is unknown. */
  longestUs(estimates: Estimates): number {
    let us = 0;
    for (let task = 0; task < this.openOf.length; task++) {
      if (this.openOf[task]! > 0) us = Math.max(us, estimates.of(task) ?? Infinity);
    }
    return us;
  }

  /** Host: how many calls it has, as far as `knowledge` goes. */
  pending(knowledge: Knowledge): number {
    if (knowledge === "settled") return this.unanswered;
    if (knowledge === "asleep") return this.isAwake ? this.unanswered : 0;
    return this.unanswered - this.responses.size;
  }

  /** Host: commits a call. Returns true if the worker has to be woken. */
  send(call: Call): boolean {
    const { machine, costs } = this.#around;
    call.visibleAt = machine.now + costs.handOverUs;
    this.requests.push(call);
    if (this.unanswered++ === 0) this.headSince = machine.now;
    while (this.countOf.length <= call.task) {
      this.countOf.push(0);
      this.openOf.push(0);
    }
    this.countOf[call.task]!++;
    this.openOf[call.task]!++;
    if (this.isAwake) {
      if (this.thread.activity === SPIN) machine.pokeAt(this.thread, call.visibleAt);
      return false;
    }
    return true;
  }

  /** Host: the waking call begins. */
  wake(): void {
    const { machine, costs, awake } = this.#around;
    this.isAwake = true;
    this.wakes++;
    awake.count++;
    machine.at(machine.now + costs.wakeSeenUs, () => machine.wake(this.thread, () => this.#poll()));
  }

  /** Host: takes back the unstarted call that was sent last. */
  revoke(): Call | undefined {
    if (this.revocable < 1) return undefined;
    const call = this.requests.popLast();
    if (call === undefined) return undefined;
    call.moves++;
    this.openOf[call.task]!--;
    this.forget(call);
    return call;
  }

  /** Host: a call is answered or taken back. */
  forget(call: Call): void {
    this.unanswered--;
    this.countOf[call.task]!--;
  }

  #poll(): void {
    const { machine, costs } = this.#around;
    const call = this.requests.peek();
    if (call === undefined || call.visibleAt > machine.now) {
      this.#rest(true);
      return;
    }
    this.requests.shift();
    call.startedAt = machine.now;
    call.runs++;
    this.running = call;
    machine.work(this.thread, costs.workerUs + call.serviceUs, WORK, () => this.#finish(call));
  }

  #finish(call: Call): void {
    const { machine, costs } = this.#around;
    call.finishedAt = machine.now;
    call.visibleAt = machine.now + costs.handOverUs;
    this.running = undefined;
    this.served++;
    this.openOf[call.task]!--;
    this.responses.push(call);
    if (!this.#around.onAnswer(call)) {
      this.#poll();
      return;
    }
    machine.at(machine.now + costs.postSeenUs, () => this.#around.onPosted());
    // Who has just woken the host does not spin: the host may have been woken on this core.
    machine.work(this.thread, costs.postCallUs, WAKE, () => {
      const next = this.requests.peek();
      if (next !== undefined && next.visibleAt <= machine.now) this.#poll();
      else this.#rest(false);
    });
  }

  /** Nothing to do: spins if it may, then blocks. */
  #rest(maySpin: boolean): void {
    const { machine, workerSpinUs } = this.#around;
    this.#spinEndsAt = maySpin ? machine.now + workerSpinUs : machine.now;
    this.#look(true);
  }

  /** The host may need a core too: hence fewer awake workers than cores, this one included. */
  #look(isFirst: boolean): void {
    const { machine, costs, awake } = this.#around;
    const { now } = machine;
    const next = this.requests.peek();
    if (next !== undefined && next.visibleAt <= now) {
      this.#poll();
      return;
    }
    // Announce, look again: a record that is on its way is seen by the second look.
    const maySpin = next !== undefined || (now < this.#spinEndsAt && awake.count < machine.cores);
    if (!maySpin) {
      this.isAwake = false;
      awake.count--;
      machine.block(this.thread);
      return;
    }
    if (isFirst) machine.spin(this.thread, () => this.#look(false));
    const checkAt = Math.min(this.#spinEndsAt, now + costs.spinCheckUs);
    machine.pokeAt(this.thread, next?.visibleAt ?? checkAt);
  }
}
