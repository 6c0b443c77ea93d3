/**
 * The host thread: submits what arrives, settles answers, hands on what waited, takes work back for
 * idle lanes, spins or parks. One step at a time, each a piece of work on the host's core.
 */
import { type Call, Estimates } from "./call.ts";
import type { Costs } from "./costs.ts";
import { Fifo } from "./event-heap.ts";
import { Lane, type Surroundings } from "./lane.ts";
import { BLOCKED, type Machine, SPIN, Thread, WAKE, WORK } from "./machine.ts";
import { type Chooser, createChooser, type Policy } from "./policies.ts";

/** The host's own code, run on its thread when its turn comes: a call to make, or a computation. */
export type Arrival =
  | { readonly call: Call }
  | { readonly computeUs: number; readonly onDone: () => void };

export interface HostOptions {
  readonly machine: Machine;
  readonly costs: Costs;
  readonly policy: Policy;
  readonly threads: number;
  readonly random: () => number;
  readonly estimateFactor: number;
  readonly onSettled: (call: Call) => void;
  /** The host is about to park: for checks. */
  readonly onPark?: (host: Host) => void;
}

/** Answers and arrivals alternate at least this often. */
const FAIRNESS_US = 1000;

export class Host implements Surroundings {
  readonly machine: Machine;
  readonly costs: Costs;
  readonly workerSpinUs: number;
  readonly awake: { count: number } = { count: 0 };
  readonly thread: Thread = new Thread("host");
  readonly lanes: readonly Lane[];
  readonly estimates: Estimates;
  /** Held calls, oldest first; the short ones apart if they may overtake. */
  readonly queue: Fifo<Call> = new Fifo<Call>();
  readonly shortQueue: Fifo<Call> = new Fifo<Call>();
  readonly options: HostOptions;
  outstanding = 0;
  posts = 0;
  moves = 0;
  isParked = false;
  readonly #arrivals = new Fifo<Arrival>();
  readonly #choose: Chooser;
  #turnedAt = -Infinity;
  #spinEndsAt = 0;
  #settledInPass = 0;
  #emptiedInPass = false;

  constructor(options: HostOptions) {
    const { machine, costs, policy, threads, random } = options;
    this.options = options;
    this.machine = machine;
    this.costs = costs;
    this.workerSpinUs = policy.workerSpinUs;
    this.estimates = new Estimates(options.estimateFactor);
    this.lanes = Array.from({ length: threads }, (_, id) => new Lane(id, this));
    const { lanes, estimates } = this;
    this.#choose = createChooser({ policy, lanes, cores: machine.cores, estimates, random });
  }

  /** Something for the host to do, from outside (an event) or from its own code. */
  arrive(arrival: Arrival): void {
    this.#arrivals.push(arrival);
    if (this.thread.state === BLOCKED) this.#wakeUp();
    else this.machine.poke(this.thread);
  }

  onAnswer(call: Call): boolean {
    if (this.isParked) {
      this.isParked = false;
      this.posts++;
      return true;
    }
    const { machine, thread } = this;
    if (thread.activity === SPIN) machine.pokeAt(thread, call.visibleAt);
    return false;
  }

  onPosted(): void {
    if (this.thread.state === BLOCKED) this.#wakeUp();
  }

  /** Out of the event loop's wait: a turn of it, then work. */
  #wakeUp(): void {
    this.isParked = false;
    this.machine.wake(this.thread, () => {
      const { now } = this.machine;
      const { coldTurnUs, warmTurnUs } = this.costs;
      const turnUs = now - this.#turnedAt >= FAIRNESS_US ? coldTurnUs : warmTurnUs;
      this.#turnedAt = now;
      this.machine.work(this.thread, turnUs, WORK, () => this.#takeArrival());
    });
  }

  #takeArrival(): void {
    const arrival = this.#arrivals.shift();
    if (arrival === undefined) {
      this.#pass();
      return;
    }
    if ("call" in arrival) {
      this.#submit(arrival.call, () => this.#takeArrival());
    } else {
      this.machine.work(this.thread, arrival.computeUs, WORK, () => {
        arrival.onDone();
        this.#takeArrival();
      });
    }
  }

  #submit(call: Call, next: () => void): void {
    const { machine, thread, costs } = this;
    const looksUs = costs.lookUs * this.#choose.looks(call.task);
    machine.work(thread, costs.submitUs + looksUs, WORK, () => {
      this.outstanding++;
      const queue = this.#queueOf(call);
      const lane = queue.size === 0 ? this.#choose(call.task) : undefined;
      if (lane === undefined) {
        queue.push(call);
        next();
      } else this.#send(lane, call, next);
    });
  }

  #queueOf(call: Call): Fifo<Call> {
    const { isOvertaking, longUs } = this.options.policy;
    const isShort = (this.estimates.of(call.task) ?? Infinity) <= longUs;
    return isOvertaking && isShort ? this.shortQueue : this.queue;
  }

  get queued(): number {
    return this.queue.size + this.shortQueue.size;
  }

  #send(lane: Lane, call: Call, next: () => void): void {
    if (!lane.send(call)) {
      next();
      return;
    }
    lane.wake();
    this.machine.work(this.thread, this.costs.wakeCallUs, WAKE, next);
  }

  /** One look at every lane, settling what is there. */
  #pass(): void {
    this.#settledInPass = 0;
    this.#emptiedInPass = false;
    let looks = this.lanes.length;
    if (this.options.policy.isSticky) {
      looks = 0;
      for (const { unanswered } of this.lanes) if (unanswered > 0) looks++;
    }
    this.machine.work(this.thread, this.costs.lookUs * looks, WORK, () => {
      this.#drainFrom(0);
    });
  }

  #drainFrom(first: number): void {
    const { machine, lanes } = this;
    for (let index = first; index < lanes.length; index++) {
      const lane = lanes[index]!;
      const answer = lane.responses.peek();
      if (answer === undefined || answer.visibleAt > machine.now) continue;
      machine.work(this.thread, this.costs.settleUs, WORK, () => {
        this.#settle(lane);
        this.#drainFrom(index);
      });
      return;
    }
    this.#flush(() => this.#afterPass());
  }

  #settle(lane: Lane): void {
    const { now } = this.machine;
    const call = lane.responses.shift()!;
    lane.forget(call);
    lane.headSince = now;
    if (lane.unanswered === 0) this.#emptiedInPass = true;
    this.estimates.observe(call.task, call.finishedAt - call.startedAt);
    this.outstanding--;
    this.#settledInPass++;
    call.settledAt = now;
    this.options.onSettled(call);
  }

  /** Hands calls that waited on the host to lanes that can take them now. */
  #flush(next: () => void): void {
    for (const queue of [this.shortQueue, this.queue]) {
      const call = queue.peek();
      if (call === undefined) continue;
      const looksUs = this.costs.lookUs * this.#choose.looks(call.task);
      const lane = this.#choose(call.task);
      if (lane === undefined) continue;
      queue.shift();
      this.machine.work(this.thread, this.costs.forwardUs + looksUs, WORK, () => {
        this.#send(lane, call, () => this.#flush(next));
      });
      return;
    }
    next();
  }

  #afterPass(): void {
    const isTurnDue = this.machine.now - this.#turnedAt >= FAIRNESS_US;
    if (this.#arrivals.size > 0 && (isTurnDue || this.#settledInPass === 0)) {
      this.#turnedAt = this.machine.now;
      this.#takeArrival();
      return;
    }
    const next = () => this.#settledInPass > 0 ? this.#nextPass() : this.#wait();
    if (this.#emptiedInPass) this.#rebalance(next);
    else next();
  }

  /** What settling made the caller do comes before the next answers: it is the same microtask. */
  #nextPass(): void {
    if (this.#arrivals.size > 0) this.#takeArrival();
    else this.#pass();
  }

  /** Moves half of the unstarted calls of the lane with the largest backlog to idle lanes. */
  #rebalance(next: () => void): void {
    const { policy } = this.options;
    if (!policy.isStealing || policy.choice !== "adaptive" || this.queued > 0) return next();
    let victim: Lane | undefined;
    let mostUs = 0;
    for (const lane of this.lanes) {
      if (lane.revocable < 1) continue;
      const us = lane.backlogUs(this.estimates, policy.knowledge);
      if (us > mostUs) {
        victim = lane;
        mostUs = us;
      }
    }
    const idle = this.lanes.filter(({ unanswered }) => unanswered === 0);
    if (victim === undefined || idle.length === 0) return next();
    idle.sort((a, b) => Number(b.isAwake) - Number(a.isAwake));
    this.#move(victim, idle, Math.ceil(victim.revocable / 2), next);
  }

  #move(victim: Lane, idle: Lane[], count: number, next: () => void): void {
    const call = count > 0 ? victim.revoke() : undefined;
    if (call === undefined) return next();
    this.moves++;
    this.#settledInPass++;
    const { estimates } = this;
    const us = estimates.of(call.task) ?? Infinity;
    // Lanes are filled up to the grain one after the other, then one call each, in turns.
    let lane = idle[0]!;
    const { knowledge, stealGrainUs } = this.options.policy;
    if (lane.unanswered > 0 && lane.backlogUs(estimates, knowledge) + us > stealGrainUs) {
      idle.push(idle.shift()!);
      lane = idle[0]!;
    }
    const moveUs = this.costs.revokeUs + this.costs.forwardUs;
    this.machine.work(this.thread, moveUs, WORK, () => {
      this.#send(lane, call, () => this.#move(victim, idle, count - 1, next));
    });
  }

  #wait(): void {
    this.#spinEndsAt = this.machine.now + this.options.policy.hostSpinUs;
    this.#look(true);
  }

  /** Spins while an answer is near and a core is free. */
  #look(isFirst: boolean): void {
    const { machine, costs } = this;
    if (this.outstanding === 0 && this.#arrivals.size === 0) {
      machine.block(this.thread);
      return;
    }
    const next = this.#nextAnswerAt();
    if (next <= machine.now) return this.#pass();
    if (this.#arrivals.size > 0) {
      this.#turnedAt = machine.now;
      return this.#takeArrival();
    }
    const isFree = this.awake.count < machine.cores && machine.now < this.#spinEndsAt;
    // After announcing the park it looks again: an answer on its way is seen by that look.
    if (next < Infinity || (isFree && this.#isAnswerNear())) {
      if (isFirst) machine.spin(this.thread, () => this.#look(false));
      const checkAt = Math.min(this.#spinEndsAt, machine.now + costs.spinCheckUs);
      machine.pokeAt(this.thread, next < Infinity ? next : checkAt);
      return;
    }
    this.#settledInPass = 0;
    this.#rebalance(() => {
      if (this.#settledInPass > 0) this.#pass();
      else this.#park();
    });
  }

  #park(): void {
    this.options.onPark?.(this);
    this.isParked = true;
    this.machine.block(this.thread);
  }

  /** When the first answer in a ring can be seen. */
  #nextAnswerAt(): number {
    let time = Infinity;
    for (const { responses } of this.lanes) {
      const answer = responses.peek();
      if (answer !== undefined && answer.visibleAt < time) time = answer.visibleAt;
    }
    return time;
  }

  /** By the estimates, or because nothing is known yet of some task that a lane begins with. */
  #isAnswerNear(): boolean {
    const { now } = this.machine;
    const { hostSpinUs } = this.options.policy;
    for (const lane of this.lanes) {
      if (lane.unanswered === 0) continue;
      const call = lane.running ?? lane.requests.peek();
      const estimateUs = call === undefined ? 0 : this.estimates.of(call.task) ?? 0;
      if (lane.headSince + estimateUs - now <= hostSpinUs) return true;
    }
    return false;
  }
}
