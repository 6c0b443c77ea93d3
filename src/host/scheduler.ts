/**
 * Sends calls to lanes and settles their answers. Knows rings and the slab; neither threads nor how
 * the host waits (`host-loop.ts` drives it).
 *
 * Which lane a call goes to is `placement.ts`'s to say; a call that no lane may take waits on the host,
 * in order. Calls that wait in a lane behind others are taken back for a lane that has nothing to do
 * (`relief.ts`).
 */
import { FULL, type SendOutcome, SENT, type TakenBack } from "../endpoint/endpoint.ts";
import { CALL, CALL_WITH_NUMBER } from "../endpoint/frame.ts";
import { type CallLoad, type ServiceTimes, UNKNOWN_LOAD } from "../endpoint/service-times.ts";
import { ARGUMENTS, type Held } from "../endpoint/hold.ts";
import { ArgumentsInWaiting, hasPromise } from "./arguments-in-waiting.ts";
import { ProtocolError } from "../errors.ts";
import { Answers } from "./answers.ts";
import { CallQueue, type QueuedCall } from "./call-queue.ts";
import type { HostWork } from "./host-loop.ts";
import { Submissions } from "./submissions.ts";
import type { SchedulerEvents, SchedulerOptions } from "./scheduler-options.ts";
import type { Inliner } from "./inliner.ts";
import { InFlight, QUEUED_ON_HOST, type Reject, type Resolve } from "./in-flight.ts";
import type { Lane } from "./lane.ts";
import { type LaneChooser, offer } from "./placement.ts";
import { findUnasked, hasAnswer, isAnyBlocked, isAnyCrowded, isAnyNear } from "./lanes.ts";
import {
  AT_EASE,
  findRelief,
  NOTHING,
  OVERDUE,
  type ReliefOutcome,
  takeCalls,
  tryRelief,
  type Urgency,
} from "./relief.ts";

/** Answers taken from one lane in one go. */
const MAX_DRAINED = 1024;

export class Scheduler implements HostWork {
  readonly inFlight: InFlight;
  readonly answers: Answers;
  /** The host's own share of the work, if it has one. */
  inliner: Inliner | undefined;
  /** Calls given to workers, less those taken back and those lost with their worker. */
  #given = 0;
  /** Calls taken back from one worker and given to another. */
  moved = 0;

  readonly #lanes: Lane[] = [];
  readonly #queue = new CallQueue();
  readonly #options: SchedulerOptions;
  readonly #events: SchedulerEvents;
  readonly #times: ServiceTimes;
  readonly #placement: LaneChooser;
  readonly #hasSignatures: boolean;
  #isFlushing = false;
  #hasUnwoken = false;
  /** Set when the pool has been closed or has failed: for calls whose submission that happened in. */
  #closed: (() => unknown) | undefined;
  readonly #submissions = new Submissions();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#events = options.events;
    this.#hasSignatures = options.signatures.some((signature) => signature !== undefined);
    this.#times = options.serviceTimes;
    this.#placement = options.placement;
    this.inFlight = new InFlight(() => options.events.onEmpty());
    this.answers = new Answers(this.inFlight, options.signatures);
  }

  get lanes(): readonly Lane[] {
    return this.#lanes;
  }

  get outstanding(): number {
    return this.#given - this.answers.taken;
  }

  /** Whether calls wait that a further worker would run: on the host, or behind a long one. */
  get isShortOfWorkers(): boolean {
    return this.#queue.size > 0 || isAnyBlocked(this.#lanes);
  }

  get hasQueued(): boolean {
    return this.#queue.size > 0 && this.#lanes.length > 0;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** Encodes the arguments now and sends the call now or later. Settles by `resolve` or `reject`. */
  submit(
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    priority = 0,
  ): void {
    const only = args.length === 1 ? args[0] : undefined;
    const isNumber = typeof only === "number" && !this.#hasSignatures;
    const mayGo = this.#queue.size === 0 &&
      (isNumber || !hasPromise(args, this.#options.isPromise));
    const load = this.#times.loadOf(task);
    const isInlined = this.inliner?.takesFirst(task, 1) === true;
    const lane = mayGo && !isInlined ? this.#placement.pick(this.#lanes, load) : undefined;
    if (lane === undefined) this.#options.backpressure.admit(this.#queue.size);
    if (this.#closed !== undefined) throw this.#closed(); // by a balancer of the user's own
    const slot = this.inFlight.add(resolve, reject, lane === undefined ? QUEUED_ON_HOST : lane.id);
    const submissions = this.#submissions;
    submissions.generations[submissions.count] = this.inFlight.generationOf(slot);
    submissions.slots[submissions.count++] = slot;
    if (lane === undefined) this.#submitHeld(slot, task, args, priority);
    else if (isNumber) this.#sendNumber(lane, slot, task, load, only, priority);
    else this.#send(lane, slot, task, load, args, priority);
    submissions.count--;
  }

  /** The shortest way, and the most frequent call. */
  #sendNumber(
    lane: Lane,
    slot: number,
    task: number,
    load: CallLoad,
    value: number,
    priority: number,
  ): void {
    const generation = this.inFlight.generationOf(slot);
    try {
      const { endpoint } = lane;
      if (endpoint.sendNumber(slot, generation, CALL_WITH_NUMBER, task, value) === SENT) {
        this.#sent(lane, slot, load);
        this.#events.onSubmit();
        return;
      }
    } catch (error) {
      this.#rejectUnsent(lane, slot, generation, error);
      return;
    }
    this.inFlight.laneOf[slot] = QUEUED_ON_HOST;
    this.#submitHeld(slot, task, [value], priority);
  }

  /** Sends a call to a lane, or holds it. */
  #send(
    lane: Lane,
    slot: number,
    task: number,
    load: CallLoad,
    args: readonly unknown[],
    priority: number,
  ): void {
    const generation = this.inFlight.generationOf(slot);
    let outcome: SendOutcome;
    try {
      outcome = lane.endpoint.sendCall(
        slot,
        generation,
        task,
        args,
        this.#options.signatures[task]?.args,
      );
    } catch (error) {
      this.#rejectUnsent(lane, slot, generation, error);
      return;
    }
    if (outcome === SENT) {
      this.#sent(lane, slot, load);
      this.#events.onSubmit();
      return;
    }
    this.#wakeIfTold(lane);
    // Encoding runs getters, which may do anything to this pool, closing it included.
    if (!this.inFlight.has(slot, generation)) return;
    this.inFlight.laneOf[slot] = QUEUED_ON_HOST;
    if (outcome === FULL) this.#submitHeld(slot, task, args, priority);
    else {
      this.#enqueue({ slot, generation, task, held: outcome, priority });
      this.#events.onSubmit();
    }
  }

  /** A lane is ready to take calls. */
  addLane(lane: Lane): void {
    this.#lanes.push(lane);
    this.#flush();
    this.#events.onSubmit();
  }

  /**
   * A lane is gone: delivers what it answered, keeps what it had not begun for others, and returns the
   * slots of the calls it was running, still unsettled.
   */
  removeLane(lane: Lane): number[] {
    const index = this.#lanes.indexOf(lane);
    if (index >= 0) this.#lanes.splice(index, 1);
    this.#placement.forget(lane);
    try {
      while (this.answers.take(lane, MAX_DRAINED) > 0);
      this.#requeue(this.#takeCalls(lane, OVERDUE) ?? []);
    } catch (error) {
      // Damaged beyond this point: the calls behind it are among those returned.
      if (!(error instanceof ProtocolError)) throw error;
    }
    this.#given -= lane.load.outstanding;
    lane.load.clear();
    if (this.#queue.size > 0) {
      this.#flush();
      this.#events.onSubmit();
    }
    return this.inFlight.slotsOf(lane.id);
  }

  /** Rejects every call that waits on the host or in a lane. */
  rejectAll(error: () => unknown): void {
    this.#closed = error;
    this.#queue.clear();
    this.#options.backpressure.shrunk(0);
    for (const slot of this.inFlight.slotsOf()) this.inFlight.reject(slot, error());
  }

  drain(max: number): number {
    let settled = 0;
    for (let index = 0; index < this.#lanes.length; index++) {
      const lane = this.#lanes[index]!;
      if (lane.load.outstanding === 0) continue;
      try {
        const answers = this.answers.take(lane, max - settled);
        if (answers === 0) continue;
        settled += answers;
      } catch (error) {
        // Only a ProtocolError comes this way.
        this.#failLane(lane, error as Error);
        index--;
      }
    }
    if (settled > 0) {
      this.flush();
      this.relieve(AT_EASE);
    }
    return settled;
  }

  flush(): void {
    // Polls flush, and none is made within a flush: whatever is left of one was cut off by the stack's end.
    this.#isFlushing = false;
    if (this.#submissions.count > 0) this.#submissions.dropAbandoned(this.inFlight);
    if (this.#hasUnwoken) this.#wakeAll();
    if (this.#queue.size > 0) this.#flush();
  }

  askForSpace(): void {
    if (this.#queue.size === 0 && !this.isCrowded) return;
    for (const lane of this.#lanes) lane.requestSpaceFlag.raise();
  }

  hasSpace(): boolean {
    const call = this.#queue.peek();
    if (call === undefined) return false;
    try {
      return this.#offer(call.task, (lane) => {
        const hasSpace = lane.endpoint.hasSpaceFor(call.held);
        this.#wakeIfTold(lane);
        return hasSpace;
      });
    } catch {
      return true; // damage, or a balancer that throws: the next flush deals with it
    }
  }

  hasResponse(): boolean {
    return hasAnswer(this.#lanes);
  }

  get isAnswerNear(): boolean {
    return isAnyNear(this.#lanes);
  }

  get isCrowded(): boolean {
    return this.#placement.mayTakeBack && this.#lanes.length > 1 && isAnyCrowded(this.#lanes);
  }

  relieve(urgency: Urgency): ReliefOutcome {
    if (!this.#placement.mayTakeBack || this.#lanes.length < 2) return NOTHING;
    const relief = findRelief(this.#lanes, urgency, this.#placement.wakesFrom);
    if (relief === undefined) return NOTHING;
    return tryRelief(
      relief,
      (from) => this.#takeCalls(from, urgency),
      (to, calls) => this.#giveTo(to, calls),
    );
  }

  /** Calls of `from` that are to run elsewhere; nobody waits for those left out. */
  #takeCalls(from: Lane, urgency: Urgency): TakenBack[] | undefined {
    try {
      return takeCalls(from, urgency)?.filter((call) => this.#takeFrom(from, call));
    } catch (error) {
      // Only a ProtocolError comes this way: the ring of the worker that is to be relieved is damaged.
      this.#failLane(from, error as Error);
      return [];
    }
  }

  #giveTo(to: Lane, calls: readonly TakenBack[]): void {
    const left = calls.filter(({ slot, generation, task, held }) =>
      !this.#sendHeld(to, slot, generation, task, held)
    );
    this.#requeue(left);
  }

  /** Puts calls that were given back before all others, in their order. */
  #requeue(calls: readonly TakenBack[]): void {
    for (const call of calls.toReversed()) {
      this.inFlight.laneOf[call.slot] = QUEUED_ON_HOST;
      this.#queue.putBack({ ...call, priority: 0 });
    }
  }

  /** Counts a call as taken back. False: nobody waits for it any more. */
  #takeFrom(from: Lane, { slot, generation }: TakenBack): boolean {
    const isWaiting = this.inFlight.has(slot, generation);
    from.load.remove(isWaiting ? this.inFlight.loadOf[slot]! : UNKNOWN_LOAD);
    this.#given--;
    if (isWaiting) this.moved++;
    return isWaiting;
  }

  onPark(): void {
    for (const lane of findUnasked(this.#lanes)) {
      const what = `Worker ${lane.id} answered a call that it was not given.`;
      this.#failLane(lane, new ProtocolError(what));
    }
    this.#events.onPark();
  }

  onIdle(): void {
    this.#events.onIdle();
  }

  /** Takes a lane out whose rings or words are damaged; its end settles the calls it has. */
  #failLane(lane: Lane, error: Error): void {
    const index = this.#lanes.indexOf(lane);
    if (index >= 0) this.#lanes.splice(index, 1);
    this.#placement.forget(lane);
    lane.fail(error);
  }

  /** Sending threw: for damage the lane's end settles the call, for anything else nothing was sent. */
  #rejectUnsent(lane: Lane, slot: number, generation: number, error: unknown): void {
    this.#wakeIfTold(lane);
    if (error instanceof ProtocolError) this.#failLane(lane, error);
    else if (this.inFlight.has(slot, generation)) this.inFlight.reject(slot, error);
  }

  /** A call was committed to the lane's ring. */
  #sent(lane: Lane, slot: number, load: CallLoad): void {
    // First, and without a call: should the stack end here, the answer is counted all the same.
    this.#given++;
    this.inFlight.loadOf[slot] = load;
    lane.load.add(load);
    this.#wake(lane);
  }

  /** Shapes were told to the lane's worker, but no call followed them. */
  #wakeIfTold(lane: Lane): void {
    if (lane.endpoint.takeTold()) this.#wake(lane);
  }

  #wake(lane: Lane): void {
    try {
      lane.waker.wake();
    } catch (error) {
      if (error instanceof ProtocolError) this.#failLane(lane, error);
      else this.#hasUnwoken = true; // the stack has overflowed: the next poll wakes it
    }
  }

  #wakeAll(): void {
    this.#hasUnwoken = false;
    for (const lane of this.#lanes.slice()) this.#wake(lane);
  }

  #submitHeld(slot: number, task: number, args: readonly unknown[], priority: number): void {
    const generation = this.inFlight.generationOf(slot);
    try {
      if (hasPromise(args, this.#options.isPromise)) {
        this.#awaitArguments(slot, generation, task, args, priority);
      } else {
        const held = this.#options.holder.hold(
          args,
          ARGUMENTS,
          this.#options.signatures[task]?.args,
        );
        this.#enqueue({ slot, generation, task, held, priority });
      }
    } catch (error) {
      if (this.inFlight.has(slot, generation)) this.inFlight.reject(slot, error);
    }
    this.#events.onSubmit();
  }

  /** Promises among the arguments are awaited; the others are taken as they are now. */
  #awaitArguments(
    slot: number,
    generation: number,
    task: number,
    args: readonly unknown[],
    priority: number,
  ): void {
    const declared = this.#options.signatures[task]?.args;
    new ArgumentsInWaiting(args, this.#options.isPromise, this.#options.holder, declared).whenKnown(
      () => this.inFlight.has(slot, generation),
      (held) => {
        this.#enqueue({ slot, generation, task, held, priority });
        this.#events.onSubmit();
      },
      (reason) => this.inFlight.reject(slot, reason),
    );
  }

  #enqueue(call: QueuedCall): void {
    // Holding runs getters, which may do anything to this pool, closing it included.
    if (!this.inFlight.has(call.slot, call.generation)) return;
    this.#queue.push(call);
    this.#flush();
    this.#options.backpressure.grown(this.#queue.size);
    if (this.#queue.size > 0) this.#events.onWait();
  }

  /** Sends queued calls, oldest first, while there is a lane and room for them. */
  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      // Taken first and put back if need be: a balancer of the user's own may do anything to the queue.
      for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) {
        const { call, number } = next;
        if (!this.#isWaiting(call) || this.#trySend(call)) continue;
        if (this.#isWaiting(call)) this.#queue.putBack(call, number);
        break;
      }
    } finally {
      this.#isFlushing = false;
    }
    this.#options.backpressure.shrunk(this.#queue.size);
  }

  /** False: nobody can take it now. A call that cannot be sent at all is settled. */
  #trySend(call: QueuedCall): boolean {
    const { inliner } = this;
    if (inliner?.takesFirst(call.task, 0) === true && inliner.take(call)) return true;
    return this.#tryLanes(call) || (inliner?.hasRoom(call.task, 0) === true && inliner.take(call));
  }

  /** False: no lane, or no room in any. A call that the balancer fails is settled. */
  #tryLanes(call: QueuedCall): boolean {
    const { slot, generation, task, held } = call;
    try {
      // A balancer of the user's own may close the pool.
      return this.#offer(
        task,
        (lane) => !this.#isWaiting(call) || this.#sendHeld(lane, slot, generation, task, held),
      );
    } catch (error) {
      if (this.#isWaiting(call)) this.inFlight.reject(slot, error); // or throw
      return true;
    }
  }

  #offer(task: number, accepts: (lane: Lane) => boolean): boolean {
    return offer(this.#placement, this.#lanes, this.#times.loadOf(task), accepts);
  }

  #isWaiting({ slot, generation }: QueuedCall): boolean {
    return this.inFlight.has(slot, generation);
  }

  /** False: no room in the lane. A call that cannot be sent at all is settled. */
  #sendHeld(lane: Lane, slot: number, generation: number, task: number, held: Held): boolean {
    this.inFlight.laneOf[slot] = lane.id;
    try {
      if (!lane.endpoint.sendHeld(CALL, slot, generation, task, held)) {
        this.inFlight.laneOf[slot] = QUEUED_ON_HOST;
        this.#wakeIfTold(lane);
        return false;
      }
    } catch (error) {
      this.#rejectUnsent(lane, slot, generation, error);
      return true;
    }
    this.#sent(lane, slot, this.#times.loadOf(task));
    return true;
  }
}
