/**
 * Sends calls to lanes and settles their answers. Knows rings and the slab; neither threads nor how
 * the host waits (`host-loop.ts` drives it).
 *
 * A call is made in two phases. First all code of the user's: balancers, and getters while the arguments are
 * encoded in memory of their own. What that code does to the pool, calls included, is done before the call exists. Then
 * `sender.ts`, where none of it runs.
 *
 * Which lane a call goes to is `placement.ts`'s to say; a call that no lane may take waits on the host,
 * in order. Calls that wait in a lane behind others are stolen for a lane that has nothing to do
 * (`work-stealing.ts`).
 */
import type { Signature } from "../../codec/struct/signature.ts";
import { ARGUMENTS, countDeclared, type SnapshotEncoder } from "../../lane/snapshot.ts";
import type { TaskTimings } from "../../lane/task-timings.ts";
import { UNSIZED } from "../../lane/sized-values.ts";
import { ProtocolError } from "../../errors.ts";
import type { Timer } from "../../runtimes/runtime.ts";
import { MAX_RESPONSES, Responses } from "../responses.ts";
import { hasPromise, ignoreRejections, PendingArguments } from "./pending-arguments.ts";
import type { Backpressure } from "./backpressure.ts";
import { type CallSettings, PLAIN } from "../cancel/call-settings.ts";
import type { HostWork } from "../poll-loop.ts";
import { InFlight, type PendingCall, type Reject, type Resolve } from "../in-flight.ts";
import type { Lane } from "../balance/lane.ts";
import { LaneSet } from "../balance/lane-set.ts";
import type { LaneChooser } from "../balance/placement.ts";
import { Sender } from "./sender.ts";
import { WaitingCalls } from "./waiting-calls.ts";
import { WorkStealing } from "../balance/work-stealing.ts";

/** From here on lanes get calls until another is ready in their place. */
const MIN_INEXACT = 16;

export interface DispatcherEvents {
  /** Something may have to be done: see to it that the host polls. */
  onWork(): void;
  /** A call has been made that has settings of its own. Runs no code of the user's. */
  onSettings(call: PendingCall): void;
  /** A call was aborted by its own getters, or by the balancer, before it was sent. */
  onAborted(): void;
  /** A call is made again, with another id. */
  onRenewed(call: PendingCall): void;
  /** A lane has been given as many calls as `recycleAfter` says. May be told again and again. */
  onDueForRecycling(lane: Lane): void;
  /** A lane has been given its last call. May be told again and again. */
  onUsedUp(lane: Lane): void;
  /** A retired lane has answered every call. */
  onDrained(lane: Lane): void;
  onPark(): void;
  /** A call has to wait on the host. */
  onWait(): void;
  /** Nothing is outstanding; `inFlight.size` says whether calls still wait on the host. */
  onIdle(): void;
  /** No call is waiting for anything any more. */
  onEmpty(): void;
}

export interface DispatcherOptions {
  readonly snapshots: SnapshotEncoder;
  readonly events: DispatcherEvents;
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  readonly placement: LaneChooser;
  readonly backpressure: Backpressure;
  /** Calls that a worker is given before another takes its place; Infinity: as many as come. */
  readonly recycleAfter: number;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  readonly taskTimings: TaskTimings;
  /** What each task declares of its values, by its index. */
  readonly signatures: readonly (Signature | undefined)[];
}

export class Dispatcher implements HostWork {
  readonly inFlight: InFlight;
  readonly answers: Responses;
  readonly lanes: LaneSet = new LaneSet();
  readonly waiting: WaitingCalls;
  readonly #options: DispatcherOptions;
  readonly #events: DispatcherEvents;
  readonly #times: TaskTimings;
  readonly #placement: LaneChooser;
  readonly #sender: Sender;
  /** Whether no lane gets more calls than `recycleAfter`. */
  readonly #isExact: boolean;
  readonly #stealing: WorkStealing;
  readonly #failDamaged = (lane: Lane, error: Error): void => this.failLane(lane, error);
  /** Why there are no further calls, when the pool has been closed or has failed. */
  #closed: Error | undefined;

  constructor(options: DispatcherOptions) {
    const { events, placement, signatures } = options;
    this.#options = options;
    this.#isExact = options.recycleAfter < MIN_INEXACT;
    this.#events = events;
    this.#times = options.taskTimings;
    this.#placement = placement;
    this.inFlight = new InFlight(() => events.onEmpty());
    this.answers = new Responses(this.inFlight, signatures);
    this.#sender = new Sender({
      inFlight: this.inFlight,
      lanes: this.lanes,
      kinds: options.snapshots.kinds,
      onSettings: (call) => {
        if (call.settings.priority !== 0) placement.depth.keepUsual();
        events.onSettings(call);
      },
      maxCalls: this.#isExact ? options.recycleAfter : Infinity,
      onUsedUp: (lane) => this.#close(lane),
      recover: () => this.recover(),
      failLane: this.#failDamaged,
    });
    this.waiting = new WaitingCalls({
      ...options,
      inFlight: this.inFlight,
      lanes: this.lanes,
      sender: this.#sender,
      onWork: () => events.onWork(),
      onWait: () => events.onWait(),
      onRenewed: (call) => events.onRenewed(call),
    });
    this.#stealing = new WorkStealing({
      inFlight: this.inFlight,
      lanes: this.lanes,
      placement,
      send: (lane, call) => this.#sender.sendSnapshot(lane, call, this.#times.loadOf(call.task)),
      putBack: (calls) => this.waiting.putBack(calls),
      failLane: this.#failDamaged,
      now: options.now,
      setTimeout: options.setTimeout,
      onMoved: () => events.onWork(),
    });
  }

  /** Calls stolen from one worker for another. */
  get moved(): number {
    return this.#stealing.moved;
  }

  /** Whether calls wait that a further worker would run: on the host, or behind a long one. */
  get isShortOfWorkers(): boolean {
    return this.waiting.runnable > 0 || this.lanes.isBlocked;
  }

  get hasQueued(): boolean {
    return this.waiting.queued > 0 && this.lanes.open.length > 0;
  }

  /**
   * Takes the arguments as they are now and sends the call now or later. Settles by `resolve` or `reject`, or throws
   * why there is no call; returns the call unless it is over already.
   */
  submit(
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings = PLAIN,
  ): PendingCall | undefined {
    try {
      this.#check(settings, false);
      const isPending = hasPromise(args, this.#options.isPromise);
      const mayGo = !isPending && this.waiting.queued === 0 &&
        this.waiting.inliner?.takesFirst(task, 1) !== true;
      const lane = mayGo
        ? this.#placement.pick(this.lanes.open, this.#times.loadOf(task))
        : undefined;
      if (lane === undefined) this.waiting.admit();
      if (isPending) return this.#submitPending(task, args, resolve, reject, settings);
      const isPlain = settings.maxRetries === 0 && this.#options.signatures[task] === undefined;
      if (lane !== undefined && isPlain) {
        const call = this.#submitSized(lane, task, args, resolve, reject, settings);
        if (call !== undefined) return call.resolve === resolve ? call : undefined;
      }
      return this.#submitEncoded(lane, task, args, resolve, reject, settings);
    } catch (error) {
      ignoreRejections(args, this.#options.isPromise);
      throw error;
    }
  }

  /** Throws if there may be no call: to be asked before any, and after the last code of the user's. */
  #check({ signal }: CallSettings, isBegun = true): void {
    if (this.#closed !== undefined) throw this.#closed;
    if (signal?.aborted !== true) return;
    if (isBegun) this.#events.onAborted();
    throw signal.reason;
  }

  /** The shorter way, for arguments that need no encoder. Undefined: they do, or there is no room for them. */
  #submitSized(
    lane: Lane,
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall | undefined {
    const only = args.length === 1 ? args[0] : undefined;
    const bytes = typeof only === "number" ? 0 : lane.endpoint.sized.roomFor(args);
    if (bytes === UNSIZED) return undefined;
    this.#check(settings); // a balancer may have done anything
    this.#events.onWork();
    const call = this.#sender.begin(resolve, reject, settings);
    const load = this.#times.loadOf(task);
    const isSent = typeof only === "number"
      ? this.#sender.sendNumber(lane, call, task, load, only)
      : this.#sender.sendSized(lane, call, task, load, args, bytes);
    if (!isSent) this.waiting.add(call, task, this.#options.snapshots.hold(args));
    else if (lane.load.outstanding > this.#placement.depth.usual) this.waiting.grown();
    return call;
  }

  #submitEncoded(
    chosen: Lane | undefined,
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall | undefined {
    const { snapshots, signatures } = this.#options;
    const declared = signatures[task]?.args;
    const encoder = snapshots.acquire();
    try {
      const end = snapshots.encode(encoder, args, ARGUMENTS, declared);
      const count = declared === undefined ? args.length : countDeclared(args, declared);
      this.#check(settings);
      const lane = chosen !== undefined && this.lanes.open.includes(chosen) ? chosen : undefined;
      this.#events.onWork();
      const mayCopy = lane !== undefined && settings.maxRetries === 0 &&
        this.waiting.queued === 0 &&
        snapshots.isInline(encoder, end);
      // What a port refuses, or must not move, is refused before there is a call.
      const snapshot = mayCopy ? undefined : snapshots.take(encoder, end, count, true);
      const call = this.#sender.begin(resolve, reject, settings);
      const load = this.#times.loadOf(task);
      if (mayCopy && this.#sender.sendEncoded(lane, call, task, load, encoder, end, count)) {
        if (lane.load.outstanding > this.#placement.depth.usual) this.waiting.grown();
      } else {this.waiting.add(
          call,
          task,
          snapshot ?? snapshots.take(encoder, end, count, true),
          lane,
        );}
      return call.resolve === resolve ? call : undefined;
    } finally {
      snapshots.release(encoder);
    }
  }

  /** Promises among the arguments are awaited; the others are taken as they are now. */
  #submitPending(
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall | undefined {
    const { isPromise, snapshots, signatures } = this.#options;
    const pending = new PendingArguments(args, isPromise, snapshots, signatures[task]?.args);
    this.#check(settings);
    this.#events.onWork();
    const call = this.#sender.begin(resolve, reject, settings);
    this.inFlight.keep(call).waiting = {
      onOver: () => {
        pending.onOver();
        this.waiting.arrived();
      },
    };
    this.waiting.expect();
    pending.whenKnown((snapshot) => {
      call.waiting = undefined;
      this.waiting.arrived();
      this.waiting.add(call, task, snapshot);
    }, (reason) => this.inFlight.reject(call, reason));
    this.#sender.unmark();
    return call;
  }

  /** A lane is ready to take calls. */
  addLane(lane: Lane): void {
    this.lanes.add(lane);
    this.#events.onWork();
  }

  /**
   * A lane is gone: delivers what it answered, keeps what it had not begun for others, and returns the
   * calls it was running, still unsettled.
   */
  removeLane(lane: Lane): PendingCall[] {
    this.#drop(lane);
    try {
      this.answers.take(lane, MAX_RESPONSES);
      this.#stealing.requeue(lane);
    } catch (error) {
      // Damaged beyond this point: the calls behind it are among those returned.
      if (!(error instanceof ProtocolError)) throw error;
    }
    lane.load.clear();
    this.#events.onWork();
    return this.inFlight.callsOf(lane.id);
  }

  /** Rejects every further call with `error`, unless that is so already. */
  refuse(error: Error): void {
    this.#closed ??= error;
  }

  /** Rejects every call that waits on the host or in a lane. What no worker has begun never runs. */
  rejectAll(error: () => unknown): void {
    this.#stealing.stop();
    for (const lane of this.lanes.all.slice()) this.#stealing.revokeAll(lane);
    this.waiting.clear();
    for (const call of this.inFlight.callsOf()) this.inFlight.reject(call, error());
  }

  drain(max: number): number {
    const settled = this.answers.takeFrom(this.lanes.all, max, this.#failDamaged);
    if (settled > 0) {
      if (this.waiting.queued === 0) this.#stealing.rebalance();
      this.#lookForWorn();
      this.#lookForSpent();
    }
    return settled;
  }

  rebalance(): boolean {
    return this.lanes.isCrowded && this.#stealing.rebalance(this.#options.now());
  }

  onPark(): void {
    for (const lane of this.lanes.findUnsolicited()) {
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
    this.lanes.remove(lane);
    this.#placement.forget(lane);
  }

  /** Gives a lane no further calls. False: it got none before. */
  #close(lane: Lane): boolean {
    this.#placement.forget(lane);
    return this.lanes.retire(lane);
  }

  /** The same; `onDrained` follows when it has answered those it has begun. */
  retire(lane: Lane): void {
    if (!this.#close(lane)) return;
    this.#stealing.requeue(lane);
    this.#events.onWork();
    this.#lookForSpent();
  }

  #lookForSpent(): void {
    for (const lane of this.lanes.findDrained()) this.#events.onDrained(lane);
  }

  #lookForWorn(): void {
    if (this.#isExact || this.#options.recycleAfter === Infinity) return;
    for (const lane of this.lanes.findDueForRecycling(this.#options.recycleAfter)) {
      this.#events.onDueForRecycling(lane);
    }
  }

  flush(): boolean {
    const hasSent = this.waiting.flush();
    if (this.#isExact) {
      for (const lane of this.lanes.findUsedUp(this.#options.recycleAfter)) {
        this.#events.onUsedUp(lane);
      }
    }
    return hasSent;
  }

  /** What was cut off by the end of a caller's stack is set right. */
  recover(): void {
    if (!this.#sender.isCutOff) return;
    this.#sender.recover((call) => this.waiting.has(call));
    this.waiting.prune();
  }
}
