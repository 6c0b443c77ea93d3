/**
 * The lanes of a pool and the calls in flight: what polls do beside waiting (`poll-loop.ts`), and what the end of a lane
 * or of the pool means for calls. Knows rings and the slab, but no threads. `submitter.ts` makes the calls.
 *
 * `placement.ts` chooses the lane of a call. A call that no lane may take waits on the host, in order. Calls that
 * wait in a lane behind others may be stolen for an idle lane (`stealing.ts`).
 */
import {
  ASYNC,
  KIND_MASK,
  PER_US,
  type TaskTimings,
  tenthsOf,
} from "../../metering/task-timings.ts";
import { ProtocolError } from "../../errors.ts";
import { LanePhases, RECYCLED } from "./lane-phases.ts";
import { Responses } from "./responses.ts";
import type { QueueBound } from "./queue/queue-bound.ts";
import type { HostWork } from "./poll-loop.ts";
import { EarlyStart } from "./early-start.ts";
import { InFlight, QUEUED_ON_HOST } from "../calls/in-flight.ts";
import type { Lane } from "../lanes/lane.ts";
import { LaneSet } from "../lanes/lane-set.ts";
import type { LaneChooser } from "../schedule/placement.ts";
import type { DispatcherEvents } from "./dispatcher-events.ts";
import type { DispatcherOptions } from "./dispatcher-options.ts";
import { PendingWork } from "../calls/pending-work.ts";
import { Sender, type SenderOptions } from "./queue/sender.ts";
import { Submitter } from "./submitter.ts";
import { WaitingCalls } from "./queue/waiting-calls.ts";
import { Revocation } from "../schedule/revocation.ts";
import { NONE_FOLLOWING, type Stealing } from "../schedule/stealing.ts";

/** From this `recycleAfter` on a lane gets calls until its successor is ready. */
const MIN_INEXACT_LIMIT = 16;

/** Calls that wait for a further worker: on the host, or behind others. */
export interface StartableCalls {
  readonly count: number;
  /** Calls behind others that could move, also those that their worker will begin soon. */
  readonly following: number;
}

export class Dispatcher implements HostWork {
  readonly inFlight: InFlight;
  readonly responses: Responses;
  readonly lanes: LaneSet = new LaneSet();
  readonly pending: PendingWork = new PendingWork();
  readonly waiting: WaitingCalls;
  /** Pauses, drains and ends lanes. */
  readonly phases: LanePhases;
  /** Makes the calls. */
  readonly submitter: Submitter;
  readonly #options: DispatcherOptions;
  readonly #events: DispatcherEvents;
  /** Estimates by task. */
  readonly #times: TaskTimings;
  readonly #placement: LaneChooser;
  readonly #sender: Sender;
  /** Whether no lane may exceed `recycleAfter`. */
  readonly #isCallLimitExact: boolean;
  /** Undefined: no call was to be revoked. */
  #revocation: Revocation | undefined;
  /** Undefined: no call could move to another lane. */
  #stealing: Stealing | undefined;
  readonly onPark: () => void;
  readonly #failDamaged = (lane: Lane, error: Error): void => this.phases.end(lane, error);

  constructor(options: DispatcherOptions) {
    const { events, placement, signatures } = options;
    this.#options = options;
    this.#isCallLimitExact = options.recycleAfter < MIN_INEXACT_LIMIT;
    this.#events = events;
    this.#times = options.taskTimings;
    this.#placement = placement;
    this.onPark = events.onPark;
    this.inFlight = new InFlight(
      events.onEmpty.bind(events),
      events.onOnlyIdleStreams.bind(events),
      options.taskTimings.tasks,
    );
    this.responses = new Responses(this.inFlight, signatures, events);
    const parts = { inFlight: this.inFlight, lanes: this.lanes, pending: this.pending };
    const senderOptions: SenderOptions = {
      ...parts,
      kinds: options.snapshots.kinds,
      canSteal: placement.maySteal && options.maxThreads > 1,
      onSettings: (call) => {
        if (call.settings.priority !== 0) placement.depth.keepUsual();
        events.onSettings(call);
      },
      maxCalls: this.#isCallLimitExact ? options.recycleAfter : Infinity,
      // One that is prepared by sticky broadcasts opens nevertheless: without it none would ever take calls.
      onLastCall: (lane) => {
        if (lane.phase !== "preparing") this.phases.keepCalls(lane, RECYCLED);
      },
      recover: () => this.#recover(),
      failLane: this.#failDamaged,
    };
    this.#sender = options.createSender?.(senderOptions) ?? new Sender(senderOptions);
    this.waiting = new WaitingCalls({
      ...options,
      ...parts,
      sender: this.#sender,
    });
    this.phases = new LanePhases({
      ...parts,
      placement,
      responses: this.responses,
      waiting: this.waiting,
      events,
      requeue: (lane) => this.#requeue(lane),
    });
    if (options.startsEarly) {
      this.waiting.early = new EarlyStart({
        ...parts,
        sender: this.#sender,
        waiting: this.waiting,
        requeue: (lane) => this.#requeue(lane),
      });
    }
    this.submitter = new Submitter(options, {
      ...parts,
      sender: this.#sender,
      waiting: this.waiting,
    });
  }

  #revoke(): Revocation {
    return this.#revocation ??= new Revocation({
      inFlight: this.inFlight,
      putBack: (calls) => this.waiting.putBack(calls),
      failLane: this.#failDamaged,
    });
  }

  /** Undefined: the pool steals no calls. */
  #steal(): Stealing | undefined {
    const { now, setTimeout, createStealing } = this.#options;
    return this.#stealing ??= createStealing?.({
      inFlight: this.inFlight,
      lanes: this.lanes,
      placement: this.#placement,
      revocation: this.#revoke(),
      send: (lane, call) => this.#sender.sendSnapshot(lane, call, this.#times.loadOf(call.task)),
      putBack: (calls) => this.waiting.putBack(calls),
      failLane: this.#failDamaged,
      now,
      setTimeout,
      onMoved: () => this.pending.kick(),
    });
  }

  /** Queues all calls that a lane has not begun (`Revocation.requeue`). */
  #requeue(lane: Lane, isForAll = false): void {
    if (lane.endpoint.tx.hasUnread) this.#revoke().requeue(lane, isForAll);
  }

  get backpressure(): QueueBound {
    return this.#options.backpressure;
  }

  /** Calls stolen from one worker for another. */
  get moved(): number {
    return this.#revocation?.moved ?? 0;
  }

  /** Calls that wait for a further worker, as they are now. */
  get startable(): StartableCalls {
    const { waiting: { runnable }, submitter: { early } } = this;
    const { count, startable } = this.#steal()?.findFollowing() ?? NONE_FOLLOWING;
    // The first call has a worker that is not ready: another might be sooner.
    const onHost = runnable + early + (this.lanes.starting?.load.outstanding ?? 0);
    return { count: onHost + startable, following: count };
  }

  /** Estimated time of all calls that wait or run, in milliseconds of one worker. Undefined: their tasks are not known well. */
  get backlogMs(): number | undefined {
    const next = this.waiting.queue.peek();
    let tenths = this.lanes.open.reduce((sum, { load }) => sum + load.backlog, 0);
    if (next !== undefined) {
      const load = this.#times.loads[next.task]!;
      // How long an async task takes, its worker does not tell.
      if (!load || (load & KIND_MASK) === ASYNC) return undefined;
      tenths += tenthsOf(load) * this.waiting.queued;
    }
    return tenths / (1000 * PER_US);
  }

  get hasQueued(): boolean {
    const { queue, pinned } = this.waiting;
    return (queue.size > 0 && this.lanes.open.length > 0) || pinned?.isSendable === true;
  }

  /** The tasks of the pool are known: calls made before are queued. */
  onTasksKnown(): void {
    this.responses.onTasksKnown();
    this.submitter.onTasksKnown();
  }

  /** Rejects the calls that no worker has begun. */
  rejectQueued(error: () => unknown): void {
    for (const lane of this.lanes.withCalls) this.#requeue(lane, true);
    for (const call of this.inFlight.callsOf(QUEUED_ON_HOST)) this.inFlight.reject(call, error());
    this.waiting.clear();
  }

  /** Rejects every call in flight. Calls that no worker has begun never run. */
  rejectAll(error: () => unknown): void {
    this.#stealing?.stop();
    for (const lane of this.lanes.withCalls) {
      if (lane.endpoint.tx.hasUnread) this.#revoke().revokeAll(lane);
    }
    if (this.inFlight.size === 0 && !this.waiting.isDue) return;
    this.waiting.clear();
    for (const call of this.inFlight.callsOf()) this.inFlight.reject(call, error());
  }

  drain(max: number): number {
    const settled = this.responses.takeFrom(this.lanes.all, max, this.#failDamaged);
    if (settled === 0) return 0;
    if (this.lanes.open.length > 1 && this.waiting.queued === 0 && this.lanes.isCrowded) {
      this.#steal()?.rebalance();
    }
    if (this.pending.isDue) {
      this.#reportDueForRecycling();
      this.phases.endDrained();
    }
    return settled;
  }

  rebalance(): boolean {
    return this.#steal()?.rebalance(this.#options.now()) === true;
  }

  onIdle(): void {
    this.#events.onIdle();
  }

  /** Fails lanes that answer calls which they were not given. Called now and then. */
  checkLanes(): void {
    for (const lane of this.lanes.findUnsolicited()) {
      if (this.#takesRequests(lane)) continue;
      const message = `Worker ${lane.id} answered a call that it was not given.`;
      this.phases.end(lane, new ProtocolError(message));
    }
  }

  #takesRequests(lane: Lane): boolean {
    try {
      return this.responses.takeRequests(lane);
    } catch {
      return false; // always a ProtocolError
    }
  }

  #reportDueForRecycling(): void {
    if (this.#isCallLimitExact || this.#options.recycleAfter === Infinity) return;
    for (const lane of this.lanes.findDueForRecycling(this.#options.recycleAfter)) {
      this.#events.onDueForRecycling(lane);
    }
  }

  flush(): boolean {
    const hasSent = this.waiting.flush();
    if (this.#isCallLimitExact) {
      for (const lane of this.lanes.findAtLimit(this.#options.recycleAfter)) {
        this.#events.onLastCall(lane);
      }
    }
    return hasSent;
  }

  doBookkeeping(): void {
    if (this.pending.marked !== undefined) this.#recover();
    this.flush();
    // Here, not with the call: of all calls of one turn the most urgent one goes first.
    if (this.lanes.starting !== undefined) this.waiting.startEarly();
    this.pending.isDue = this.waiting.isDue || this.#options.recycleAfter !== Infinity ||
      this.lanes.open.length !== this.lanes.all.length;
  }

  /** Repairs the state after a caller's stack overflowed. */
  #recover(): void {
    this.#sender.recover((call) => this.waiting.has(call));
    this.waiting.prune();
  }
}
