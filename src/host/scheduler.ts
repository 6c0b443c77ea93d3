/**
 * Sends calls to lanes and settles their answers. Knows rings and the slab; neither threads nor how
 * the host waits (`host-loop.ts` drives it).
 *
 * Which lane a call goes to is `placement.ts`'s to say; a call that no lane may take waits on the host,
 * in order. Calls that wait in a lane behind others are taken back for a lane that has nothing to do
 * (`relief.ts`).
 */
import { FULL } from "../endpoint/endpoint.ts";
import type { ServiceTimes } from "../endpoint/service-times.ts";
import { ARGUMENTS, type Held } from "../endpoint/hold.ts";
import { ArgumentsInWaiting, disown, hasPromise } from "./arguments-in-waiting.ts";
import { ProtocolError } from "../errors.ts";
import { Answers, MOST_ANSWERS } from "./answers.ts";
import { CallQueue, type QueuedCall, type TakenCall } from "./call-queue.ts";
import { type CallSettings, PLAIN } from "./call-settings.ts";
import type { HostWork } from "./host-loop.ts";
import { retryDelayMs } from "./retry.ts";
import { DONE, Sender } from "./sender.ts";
import type { SchedulerEvents, SchedulerOptions } from "./scheduler-options.ts";
import type { Inliner } from "./inliner.ts";
import {
  InFlight,
  type PendingCall,
  QUEUED_ON_HOST,
  type Reject,
  type Resolve,
} from "./in-flight.ts";
import type { Lane } from "./lane.ts";
import { type LaneChooser, offer } from "./placement.ts";
import {
  findSpent,
  findUnasked,
  findWorn,
  hasAnswer,
  isAnyBlocked,
  isAnyBusy,
  isAnyCrowded,
  type Outlook,
  outlookOf,
  remove,
} from "./lanes.ts";
import { Mover } from "./mover.ts";
import { AT_EASE, findRelief, NOTHING, type ReliefOutcome, type Urgency } from "./relief.ts";

export class Scheduler implements HostWork {
  readonly inFlight: InFlight;
  readonly answers: Answers;
  /** The host's own share of the work, if it has one. */
  inliner: Inliner | undefined;
  /** Every lane that may have answers. */
  readonly #lanes: Lane[] = [];
  /** Those that take calls: all but the ones that are to be closed when they have answered. */
  readonly #open: Lane[] = [];
  readonly #queue = new CallQueue();
  readonly #options: SchedulerOptions;
  readonly #events: SchedulerEvents;
  readonly #times: ServiceTimes;
  readonly #placement: LaneChooser;
  readonly #usualDepth: number;
  readonly #hasSignatures: boolean;
  #isFlushing = false;
  /** The call that a flush has taken from the queue. */
  #inHand: TakenCall | undefined;
  /** Calls in the queue, about, that nobody waits for any more. */
  #endedInQueue = 0;
  /** Calls that are to be queued: when promises among their arguments settle, or after a pause. */
  #toCome = 0;
  readonly #sender: Sender;
  readonly #mover: Mover;
  readonly #failDamaged = (lane: Lane, error: Error): void => this.failLane(lane, error);
  /** Set when the pool has been closed or has failed: for calls whose submission that happened in. */
  #closed: (() => unknown) | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#events = options.events;
    this.#hasSignatures = options.signatures.some((signature) => signature !== undefined);
    this.#times = options.serviceTimes;
    this.#placement = options.placement;
    this.#usualDepth = options.placement.depth.usual;
    this.inFlight = new InFlight(() => options.events.onEmpty());
    this.answers = new Answers(this.inFlight, options.signatures);
    this.#sender = new Sender(
      this.inFlight,
      options.signatures,
      this.#failDamaged,
      options.holder.kinds,
    );
    this.#mover = new Mover({
      inFlight: this.inFlight,
      send: (lane, call) => this.#sendHeld(lane, call),
      putBack: (calls) => this.#queue.putBackAll(calls),
      failLane: this.#failDamaged,
    });
  }

  /** Calls taken back from one worker and given to another. */
  get moved(): number {
    return this.#mover.moved;
  }

  get lanes(): readonly Lane[] {
    return this.#lanes;
  }

  /** Lanes that take calls. */
  get open(): readonly Lane[] {
    return this.#open;
  }

  get isBusy(): boolean {
    return isAnyBusy(this.#lanes);
  }

  /** Whether calls wait that a further worker would run: on the host, or behind a long one. */
  get isShortOfWorkers(): boolean {
    return this.#waiting > this.#toCome || isAnyBlocked(this.#open);
  }

  get hasQueued(): boolean {
    return this.#queue.size > 0 && this.#open.length > 0;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** Calls that wait: on the host, or are going to, or deep in a ring. */
  get #waiting(): number {
    return this.#queue.size + this.#toCome + this.#placement.depth.excessOf(this.#open);
  }

  /**
   * Encodes the arguments now and sends the call now or later. Settles by `resolve` or `reject`; returns
   * the call unless that has happened already.
   */
  submit(
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings = PLAIN,
  ): PendingCall | undefined {
    const only = args.length === 1 ? args[0] : undefined;
    const isNumber = typeof only === "number" && !this.#hasSignatures;
    const mayGo = this.#queue.size === 0 &&
      (isNumber || !hasPromise(args, this.#options.isPromise));
    const load = this.#times.loadOf(task);
    const isInlined = this.inliner?.takesFirst(task, 1) === true;
    const lane = mayGo && !isInlined ? this.#placement.pick(this.#open, load) : undefined;
    try {
      if (lane === undefined) this.#admit();
      if (this.#closed !== undefined) throw this.#closed(); // by a balancer of the user's own
    } catch (error) {
      disown(args, this.#options.isPromise);
      throw error;
    }
    // What may have to be made again is held first.
    const isHeld = lane === undefined || settings.maxRetries > 0;
    const call = this.inFlight.add(
      resolve,
      reject,
      isHeld ? QUEUED_ON_HOST : lane.id,
      settings,
    );
    const { generation } = call;
    if (settings !== PLAIN) {
      if (settings.priority !== 0) this.#placement.depth.keepUsual();
      this.#events.onSettings(call);
    }
    if (call.generation !== generation) {
      // Its signal has been aborted by the balancer, or by who was told that the queue is short.
      this.inFlight.submitted(call, generation);
      return undefined;
    }
    if (isHeld) this.#submitHeld(call, task, args, lane);
    else {
      const sent = isNumber
        ? this.#sender.sendNumber(lane, call, task, load, only)
        : this.#sender.sendCall(lane, call, task, load, args);
      if (sent === FULL) this.#submitHeld(call, task, isNumber ? [only] : args);
      else if (sent !== DONE) this.#enqueue(call, task, sent, lane);
      if (lane.load.outstanding > this.#usualDepth) this.#grown();
      this.#events.onSubmit();
    }
    this.inFlight.submitted(call, generation);
    return call.generation === generation ? call : undefined;
  }

  /** Throws QueueFullError if no further call may wait. */
  #admit(): void {
    const { backpressure } = this.#options;
    if (this.#endedInQueue > 0 && backpressure.isFull(this.#waiting)) this.#prune();
    backpressure.admit(this.#waiting);
  }

  /** A call that waited on the host has been settled: it must not take up room for long. */
  onEndedInQueue(): void {
    if (++this.#endedInQueue * 2 > this.#queue.size) this.#prune();
  }

  #prune(): void {
    this.#endedInQueue = 0;
    // What is being sent just now is out of the queue, and put back only if it is still wanted.
    this.#queue.prune((call) => this.inFlight.has(call));
    this.#options.backpressure.shrunk(this.#waiting);
  }

  /** A lane is ready to take calls. */
  addLane(lane: Lane): void {
    this.#lanes.push(lane);
    this.#open.push(lane);
    this.#flush();
    this.#events.onSubmit();
  }

  /**
   * A lane is gone: delivers what it answered, keeps what it had not begun for others, and returns the
   * calls it was running, still unsettled.
   */
  removeLane(lane: Lane): PendingCall[] {
    this.#drop(lane);
    try {
      this.answers.take(lane, MOST_ANSWERS);
      this.#mover.queueAgain(lane);
    } catch (error) {
      // Damaged beyond this point: the calls behind it are among those returned.
      if (!(error instanceof ProtocolError)) throw error;
    }
    lane.load.clear();
    if (this.#queue.size > 0 || this.#options.backpressure.needsDrain) {
      this.#flush();
      this.#events.onSubmit();
    }
    return this.inFlight.callsOf(lane.id);
  }

  /** Rejects every call that waits on the host or in a lane. What no worker has begun never runs. */
  rejectAll(error: () => unknown): void {
    this.#closed = error;
    for (const lane of this.#lanes.slice()) this.#mover.revokeAll(lane);
    this.#queue.clear();
    this.#options.backpressure.shrunk(0);
    for (const call of this.inFlight.callsOf()) this.inFlight.reject(call, error());
  }

  drain(max: number): number {
    const settled = this.answers.takeFrom(this.#lanes, max, this.#failDamaged);
    if (settled > 0) {
      this.flush();
      this.relieve(AT_EASE);
      this.#lookForWorn();
      this.#lookForSpent();
    }
    return settled;
  }

  flush(): void {
    // Polls flush, and none is made within a flush: whatever is left of one was cut off by the stack's end.
    const { backpressure } = this.#options;
    this.#isFlushing = false;
    this.inFlight.dropCutOff();
    this.#sender.wakeUnwoken(this.#lanes);
    if (this.#queue.size > 0 || this.#inHand !== undefined) this.#flush();
    else if (backpressure.needsDrain) backpressure.shrunk(this.#waiting);
  }

  askForSpace(): void {
    if (this.#queue.size === 0 && !this.isCrowded) return;
    for (const lane of this.#open) lane.requestSpaceFlag.raise();
  }

  hasSpace(): boolean {
    const call = this.#queue.peek();
    if (call === undefined) return false;
    try {
      return this.#offer(call.task, (lane) => {
        const hasSpace = lane.hasSpaceFor(call.held);
        this.#sender.wakeIfTold(lane);
        return hasSpace;
      });
    } catch {
      return true; // damage, or a balancer that throws: the next flush deals with it
    }
  }

  hasResponse(): boolean {
    return hasAnswer(this.#lanes);
  }

  outlook(): Outlook {
    return outlookOf(this.#lanes);
  }

  get isCrowded(): boolean {
    return this.#placement.mayTakeBack && this.#open.length > 1 && isAnyCrowded(this.#open);
  }

  relieve(urgency: Urgency): ReliefOutcome {
    if (this.#open.length < 2 || !this.#placement.mayTakeBack) return NOTHING;
    const relief = findRelief(this.#open, urgency, this.#placement);
    return relief === undefined ? NOTHING : this.#mover.relieve(relief, urgency);
  }

  onPark(): void {
    for (const lane of findUnasked(this.#lanes)) {
      const what = `Worker ${lane.id} answered a call that it was not given.`;
      this.failLane(lane, new ProtocolError(what));
    }
    this.#events.onPark();
  }

  onIdle(): void {
    this.#events.onIdle();
  }

  /** Takes a lane out whose rings or words are damaged; its end settles the calls it has. */
  failLane(lane: Lane, error: Error): void {
    this.#drop(lane);
    lane.fail(error);
  }

  #drop(lane: Lane): void {
    remove(this.#lanes, lane);
    remove(this.#open, lane);
    this.#placement.forget(lane);
  }

  /** Gives a lane no further calls; `onSpent` follows when it has answered those it has begun. */
  retire(lane: Lane): void {
    if (!remove(this.#open, lane)) return;
    this.#placement.forget(lane);
    this.#mover.queueAgain(lane);
    this.#flush();
    this.#events.onSubmit();
    this.#lookForSpent();
  }

  #lookForSpent(): void {
    if (this.#open.length === this.#lanes.length) return;
    for (const lane of findSpent(this.#lanes, this.#open)) this.#events.onSpent(lane);
  }

  #lookForWorn(): void {
    if (this.#options.recycleAfter === Infinity) return;
    for (const lane of findWorn(this.#open, this.#options.recycleAfter)) this.#events.onWorn(lane);
  }

  /** `chosen`: a lane that can have it, once it is held. */
  #submitHeld(call: PendingCall, task: number, args: readonly unknown[], chosen?: Lane): void {
    const { generation } = call;
    const { isPromise, holder, signatures } = this.#options;
    const declared = signatures[task]?.args;
    try {
      if (hasPromise(args, isPromise)) {
        // Promises among the arguments are awaited; the others are taken as they are now.
        const waiting = new ArgumentsInWaiting(args, isPromise, holder, declared);
        if (call.generation === generation) this.#await(call, task, waiting);
      } else {
        const held = holder.hold(args, ARGUMENTS, declared);
        // Holding runs getters, which may do anything to this pool, closing it included.
        if (call.generation === generation) this.#enqueue(call, task, held, chosen);
      }
    } catch (error) {
      if (call.generation === generation) this.inFlight.reject(call, error);
    }
    this.#events.onSubmit();
  }

  /** The call waits until its arguments are known. */
  #await(call: PendingCall, task: number, waiting: ArgumentsInWaiting): void {
    call.isSubmitting = false;
    this.#toCome++;
    this.inFlight.keep(call).waiting = {
      onOver: () => {
        waiting.onOver();
        this.#toCome--;
        this.#events.onSubmit(); // a poll tells who waits for the queue to shrink
      },
    };
    waiting.whenKnown((held) => {
      call.waiting = undefined;
      this.#toCome--;
      this.#enqueue(call, task, held);
      this.#events.onSubmit();
    }, (reason) => this.inFlight.reject(call, reason));
    this.#options.backpressure.grown(this.#waiting);
  }

  /** The call, which is in flight, waits on the host, unless a lane was chosen for it that can have it. */
  #enqueue(call: PendingCall, task: number, held: Held, chosen?: Lane): void {
    const { slot, generation, settings } = call;
    const queued = { slot, generation, task, held, priority: settings.priority };
    if (settings.maxRetries > 0 && held.mayKeep) call.again = queued;
    const mayGo = chosen !== undefined && this.#queue.size === 0 && this.#open.includes(chosen);
    if (mayGo && this.#sendHeld(chosen, queued)) return;
    const kept = this.#sender.toKeep(call, held);
    if (kept === undefined) return;
    this.#queue.push(kept === held ? queued : { ...queued, held: kept });
    // Not before: a call that the stack's end cuts off is found by this.
    call.isSubmitting = false;
    this.#pushed();
  }

  #pushed(): void {
    this.#flush();
    this.#grown();
  }

  #grown(): void {
    const waiting = this.#waiting;
    this.#options.backpressure.grown(waiting);
    if (waiting > this.#toCome) this.#events.onWait();
  }

  /** Makes a call again whose worker was lost. False: it must not be. */
  retry(call: PendingCall): boolean {
    if (call.again === undefined || call.retries >= call.settings.maxRetries) return false;
    const again = this.inFlight.renew(call, call.again);
    this.#events.onRenewed(call);
    call.retries++;
    call.lane = QUEUED_ON_HOST;
    call.begunMs = -1;
    this.#toCome++;
    this.#options.later(() => {
      this.#toCome--;
      if (this.inFlight.has(again)) {
        this.#queue.push(again);
        this.#pushed();
      }
      this.#events.onSubmit();
    }, retryDelayMs(call.retries));
    return true;
  }

  /** Sends queued calls, oldest first, while there is a lane and room for them. */
  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      this.#takeUp();
      // Taken first and put back if need be: a balancer of the user's own may do anything to the queue.
      for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) {
        this.#inHand = next;
        const isOver = !this.inFlight.has(next.call) || this.#trySend(next.call);
        if (!isOver && this.inFlight.has(next.call)) this.#queue.putBack(next.call, next.number);
        this.#inHand = undefined;
        if (!isOver) break;
      }
    } finally {
      this.#isFlushing = false;
    }
    this.#options.backpressure.shrunk(this.#waiting);
  }

  /** Puts back what a flush had in hand that the stack's end has cut off. */
  #takeUp(): void {
    if (this.#inHand === undefined) return;
    const { call, number } = this.#inHand;
    const pending = this.inFlight.find(call.slot, call.generation);
    if (pending?.lane === QUEUED_ON_HOST) this.#queue.putBack(call, number);
    this.#inHand = undefined;
  }

  /** False: nobody can take it now. A call that cannot be sent at all is settled. */
  #trySend(call: QueuedCall): boolean {
    const { inliner } = this;
    if (inliner?.takesFirst(call.task, 0) === true && inliner.take(call)) return true;
    return this.#tryLanes(call) || (inliner?.hasRoom(call.task, 0) === true && inliner.take(call));
  }

  /** False: no lane, or no room in any. A call that the balancer fails is settled. */
  #tryLanes(call: QueuedCall): boolean {
    const { slot, generation, task } = call;
    try {
      // A balancer of the user's own may close the pool.
      return this.#offer(
        task,
        (lane) => !this.inFlight.has(call) || this.#sendHeld(lane, call),
      );
    } catch (error) {
      const pending = this.inFlight.find(slot, generation);
      if (pending !== undefined) this.inFlight.reject(pending, error); // or throw
      return true;
    }
  }

  #offer(task: number, accepts: (lane: Lane) => boolean): boolean {
    return offer(this.#placement, this.#open, this.#times.loadOf(task), accepts);
  }

  /** False: no room in the lane. A call that cannot be sent at all is settled. */
  #sendHeld(lane: Lane, call: QueuedCall): boolean {
    return this.#sender.sendHeld(lane, call, this.#times.loadOf(call.task));
  }
}
