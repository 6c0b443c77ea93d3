/**
 * Sends calls to lanes and settles their answers. Knows rings and the slab; neither threads nor how
 * the host waits (`host-loop.ts` drives it).
 *
 * First policy: the least loaded lane, with a bounded number of calls sent ahead to each; the rest
 * wait on the host, in order.
 */
import { normalizeNumber } from "../codec/numbers.ts";
import { checkFrame, Endpoint, SENT } from "../endpoint/endpoint.ts";
import {
  CALL,
  countOf,
  FAULT,
  FRAME_BYTES,
  GENERATION_WORD,
  INLINE,
  kindOf,
  locationOf,
  NUMBER_FRAME_BYTES,
  RESULT,
  RESULT_NUMBER,
  RESULT_VALUE,
  SLOT_WORD,
  THROWN,
  WHAT_WORD,
} from "../endpoint/frame.ts";
import type { Held, Holder } from "../endpoint/hold.ts";
import { ProtocolError } from "../errors.ts";
import { EMPTY } from "../ring/consumer.ts";
import { CallQueue, type QueuedCall } from "./call-queue.ts";
import type { HostWork } from "./host-loop.ts";
import { InFlight, QUEUED_ON_HOST, type Reject, type Resolve } from "./in-flight.ts";
import type { Lane } from "./lane.ts";

/** Calls sent ahead to one lane. Enough to keep a worker busy with the smallest tasks. */
const MIN_PREFETCH = 1024;
/** Answers taken from one lane in one go. */
const MAX_DRAINED = 1024;

export interface SchedulerEvents {
  /** A call was submitted: see to it that `drain` is called. */
  onSubmit(): void;
  onPark(): void;
  /** Nothing is outstanding; `inFlight.size` says whether calls still wait on the host. */
  onIdle(): void;
  /** No call is waiting for anything any more. */
  onEmpty(): void;
}

export interface SchedulerOptions {
  readonly holder: Holder;
  readonly events: SchedulerEvents;
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  readonly maxConcurrency: number;
}

export class Scheduler implements HostWork {
  readonly inFlight: InFlight;
  /** Answers for calls that were settled otherwise before. */
  lateAnswers = 0;
  outstanding = 0;

  readonly #lanes: Lane[] = [];
  readonly #queue = new CallQueue();
  readonly #holder: Holder;
  readonly #events: SchedulerEvents;
  readonly #isPromise: (value: unknown) => value is Promise<unknown>;
  readonly #prefetch: number;
  #isFlushing = false;

  constructor(options: SchedulerOptions) {
    this.#holder = options.holder;
    this.#events = options.events;
    this.#isPromise = options.isPromise;
    // A worker may take this many calls without having answered one.
    this.#prefetch = Math.max(MIN_PREFETCH, options.maxConcurrency);
    this.inFlight = new InFlight(() => options.events.onEmpty());
  }

  get lanes(): readonly Lane[] {
    return this.#lanes;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** Encodes the arguments now and sends the call now or later. Settles by `resolve` or `reject`. */
  submit(task: number, args: readonly unknown[], resolve: Resolve, reject: Reject): void {
    const lane = this.#queue.size === 0 ? this.#pick() : undefined;
    if (lane === undefined) {
      this.#submitHeld(this.inFlight.add(resolve, reject, QUEUED_ON_HOST), task, args);
      return;
    }
    const slot = this.inFlight.add(resolve, reject, lane.id);
    const generation = this.inFlight.generationOf(slot);
    let isSent: boolean;
    try {
      isSent = lane.endpoint.sendCall(slot, generation, task, args) === SENT;
    } catch (error) {
      this.#rejectUnsent(lane, slot, error);
      return;
    }
    if (!isSent) {
      this.inFlight.laneOf[slot] = QUEUED_ON_HOST;
      this.#submitHeld(slot, task, args);
      return;
    }
    this.#sent(lane);
    this.#events.onSubmit();
  }

  /** A lane is ready to take calls. */
  addLane(lane: Lane): void {
    this.#lanes.push(lane);
    this.#flush();
    this.#events.onSubmit();
  }

  /**
   * A lane is gone: delivers what it answered and returns the slots of the calls it did not answer,
   * still unsettled.
   */
  removeLane(lane: Lane): number[] {
    const index = this.#lanes.indexOf(lane);
    if (index >= 0) this.#lanes.splice(index, 1);
    try {
      while (this.#drainLane(lane, MAX_DRAINED) > 0);
    } catch (error) {
      // Damaged beyond this point: the calls behind it are among those returned.
      if (!(error instanceof ProtocolError)) throw error;
    }
    this.outstanding -= lane.outstanding;
    lane.outstanding = 0;
    return this.inFlight.slotsOf(lane.id);
  }

  /** Rejects every call that waits on the host or in a lane. */
  rejectAll(error: () => unknown): void {
    this.#queue.clear();
    for (const slot of this.inFlight.slotsOf()) this.inFlight.reject(slot, error());
  }

  drain(max: number): number {
    let settled = 0;
    for (let index = 0; index < this.#lanes.length; index++) {
      const lane = this.#lanes[index]!;
      try {
        if (lane.outstanding === 0) {
          if (!lane.endpoint.rx.hasRecord) continue;
          throw new ProtocolError(`Worker ${lane.id} answered a call that it was not given.`);
        }
        const answers = this.#drainLane(lane, max - settled);
        if (answers === 0) continue;
        settled += answers;
      } catch (error) {
        // Only a ProtocolError comes this way.
        this.#failLane(lane, error as Error);
        index--;
      }
    }
    if (settled > 0) this.flush();
    return settled;
  }

  flush(): void {
    if (this.#queue.size > 0) this.#flush();
  }

  askForSpace(): void {
    if (this.#queue.size === 0) return;
    for (const lane of this.#lanes) lane.requestSpaceFlag.raise();
  }

  hasSpace(): boolean {
    const call = this.#queue.peek();
    const lane = call === undefined ? undefined : this.#pick();
    return lane !== undefined && lane.endpoint.tx.hasSpace(Endpoint.heldBytes(call!.held));
  }

  hasResponse(): boolean {
    const lanes = this.#lanes;
    for (let index = 0; index < lanes.length; index++) {
      if (lanes[index]!.endpoint.rx.hasRecord) return true;
    }
    return false;
  }

  onPark(): void {
    this.#events.onPark();
  }

  onIdle(): void {
    this.#events.onIdle();
  }

  #drainLane(lane: Lane, max: number): number {
    const { rx, codec } = lane.endpoint;
    const { memory } = rx;
    const { i32, f64 } = memory;
    const inFlight = this.inFlight;
    let answers = 0;
    while (answers < max && lane.outstanding > 0) {
      const index = rx.poll();
      if (index === EMPTY) break;
      rx.verify(index);
      checkFrame(index, rx.end);
      const word = index >> 2;
      const slot = i32[word + SLOT_WORD]!;
      const generation = i32[word + GENERATION_WORD]!;
      const what = i32[word + WHAT_WORD]!;
      answers++;
      if (!inFlight.has(slot, generation)) {
        this.#settleOther(lane, index, slot, generation, what);
      } else if (what === RESULT_NUMBER && rx.end - index >= NUMBER_FRAME_BYTES) {
        const value = normalizeNumber(f64[(index + FRAME_BYTES) >> 3]!);
        this.#answered(lane);
        inFlight.resolve(slot, value);
      } else if (what === RESULT_VALUE) {
        const value = codec.decode(memory, index + FRAME_BYTES, rx.end);
        this.#answered(lane);
        inFlight.resolve(slot, value);
      } else {
        this.#settleOther(lane, index, slot, generation, what);
      }
    }
    return answers;
  }

  /** Answers that are not one inline result of a waiting call. */
  #settleOther(lane: Lane, index: number, slot: number, generation: number, what: number): void {
    const { endpoint } = lane;
    const kind = kindOf(what);
    let value: unknown;
    let isRejection = kind !== RESULT;
    if (kind !== RESULT && kind !== THROWN && kind !== FAULT) {
      throw new ProtocolError(`Answer of unknown kind ${kind}.`);
    }
    try {
      // Read even if nobody waits any more: the payload message must not stay in the port.
      if (kind === FAULT) value = endpoint.readFault(index, what);
      else if (countOf(what) === 1) value = endpoint.readValues(index, what)[0];
      else throw new ProtocolError(`Answer with ${countOf(what)} values.`);
    } catch (error) {
      if (error instanceof ProtocolError || locationOf(what) === INLINE) throw error;
      value = error; // a message that could not be deserialized fails its own call only
      isRejection = true;
    }
    this.#answered(lane);
    if (!this.inFlight.has(slot, generation)) this.lateAnswers++;
    else if (isRejection) this.inFlight.reject(slot, value);
    else this.inFlight.resolve(slot, value);
  }

  /** Done with the polled answer. */
  #answered(lane: Lane): void {
    lane.outstanding--;
    this.outstanding--;
    // A worker that waits for room can only be helped by room just handed back.
    if (lane.endpoint.rx.release() && lane.spaceFlag.take()) lane.waker.wake();
  }

  /** Takes a lane out whose rings or words are damaged; its end settles the calls it has. */
  #failLane(lane: Lane, error: Error): void {
    const index = this.#lanes.indexOf(lane);
    if (index >= 0) this.#lanes.splice(index, 1);
    lane.fail(error);
  }

  /** Sending threw: for damage the lane's end settles the call, for anything else nothing was sent. */
  #rejectUnsent(lane: Lane, slot: number, error: unknown): void {
    if (error instanceof ProtocolError) this.#failLane(lane, error);
    else this.inFlight.reject(slot, error);
  }

  /** A call was committed to the lane's ring. */
  #sent(lane: Lane): void {
    lane.outstanding++;
    this.outstanding++;
    try {
      lane.waker.wake();
    } catch (error) {
      this.#failLane(lane, error as Error);
    }
  }

  #submitHeld(slot: number, task: number, args: readonly unknown[]): void {
    const generation = this.inFlight.generationOf(slot);
    try {
      if (args.some(this.#isPromise)) this.#awaitArguments(slot, generation, task, args);
      else this.#enqueue(slot, generation, task, this.#holder.hold(args));
    } catch (error) {
      if (this.inFlight.has(slot, generation)) this.inFlight.reject(slot, error);
    }
    this.#events.onSubmit();
  }

  /** Promises among the arguments are awaited; the others are taken as they are now. */
  #awaitArguments(slot: number, generation: number, task: number, args: readonly unknown[]): void {
    const now = this.#holder.hold(args.map((value) => this.#isPromise(value) ? undefined : value));
    Promise.all(args.map((value) => this.#isPromise(value) ? value : undefined)).then(
      (settled) => {
        if (!this.inFlight.has(slot, generation)) return;
        const taken = this.#holder.values(now);
        const values = taken.map((value, index) =>
          this.#isPromise(args[index]) ? settled[index] : value
        );
        this.#submitHeld(slot, task, values);
      },
      (reason) => {
        if (this.inFlight.has(slot, generation)) this.inFlight.reject(slot, reason);
      },
    );
  }

  #enqueue(slot: number, generation: number, task: number, held: Held): void {
    // Holding runs getters, which may do anything to this pool, closing it included.
    if (!this.inFlight.has(slot, generation)) return;
    this.#queue.push({ slot, generation, task, held });
    this.#flush();
  }

  /** Sends queued calls, oldest first, while there is a lane and room for them. */
  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      for (let call = this.#queue.peek(); call !== undefined; call = this.#queue.peek()) {
        const { slot, generation } = call;
        if (this.inFlight.has(slot, generation) && !this.#trySend(call)) break;
        this.#queue.shift();
      }
    } finally {
      this.#isFlushing = false;
    }
  }

  /** False: no lane, or no room in it. A call that cannot be sent at all is settled. */
  #trySend({ slot, generation, task, held }: QueuedCall): boolean {
    const lane = this.#pick();
    if (lane === undefined) return false;
    this.inFlight.laneOf[slot] = lane.id;
    try {
      if (!lane.endpoint.sendHeld(CALL, slot, generation, task, held)) {
        this.inFlight.laneOf[slot] = QUEUED_ON_HOST;
        return false;
      }
    } catch (error) {
      this.#rejectUnsent(lane, slot, error);
      return true;
    }
    this.#sent(lane);
    return true;
  }

  /** The lane with the fewest unanswered calls, unless each has its fill. */
  #pick(): Lane | undefined {
    let best: Lane | undefined;
    let fewest = this.#prefetch;
    for (const lane of this.#lanes) {
      if (lane.outstanding < fewest) {
        fewest = lane.outstanding;
        best = lane;
      }
    }
    return best;
  }
}
