/**
 * Cancellation: calls that end before their response, by a time limit or by their caller.
 *
 * A call that no worker has begun is revoked and never runs. If its task runs, the task is notified, the caller is
 * settled at once, and the response is dropped. Hard limits (`deadlines.ts`) bound how long such a task may go on.
 * docs/internals/cancellation.md explains the protocol.
 */
import { clearAbort, raiseAbort } from "../abort-epochs.ts";
import { CallEndedError, TimeoutError } from "../../../../errors.ts";
import type { CallPart } from "../../../../host/calls/call-extra.ts";
import {
  type InFlight,
  type PendingCall,
  QUEUED_ON_HOST,
  RUN_BY_HOST,
} from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { LaneSet } from "../../../../host/lanes/lane-set.ts";
import { postAbort } from "./abort-message.ts";
import { TimedCalls, timesOf } from "./timed-calls.ts";

export interface CancellationOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly abortEpochs: Int32Array<SharedArrayBuffer>;
  readonly now: () => number;
  /** A call that waited on the host was settled. */
  readonly onQueuedSettled: () => void;
  /** A call of a lane was revoked: waiting calls may go now. */
  readonly onRevoked: () => void;
  /** A worker continues with a call that has ended or is to end, and may have to be stopped for it. */
  readonly onOrphaned: () => void;
}

/** It is a part of each call whose task gets a signal. */
export class Cancellation implements CallPart {
  /** Calls ended by a time limit, and by their caller. */
  timedOut = 0;
  aborted = 0;
  /** A call is about to resolve, although its task has not ended: that is over, as if it were rejected for this reason. */
  onGivenUp: (call: PendingCall, reason: unknown) => void = () => {};
  readonly timed: TimedCalls = new TimedCalls();
  readonly #options: CancellationOptions;

  constructor(options: CancellationOptions) {
    this.#options = options;
  }

  /** A call whose task gets a signal was made. */
  begin(call: PendingCall): void {
    call.keep().add(this);
    this.onRenewed(call);
  }

  /** It was made, or made again: earlier calls of its slot are over. */
  onRenewed({ slot, generation }: PendingCall): void {
    clearAbort(this.#options.abortEpochs, slot, generation);
  }

  /** Its task may go on, whose synchronous code sees the abort from now on. */
  onLeftRunning({ slot, generation }: PendingCall): void {
    raiseAbort(this.#options.abortEpochs, slot, generation);
  }

  /** Whether a worker, or the host, has begun the call. */
  hasBegun(call: PendingCall): boolean {
    if (call.lane === RUN_BY_HOST) return true;
    if (call.lane === QUEUED_ON_HOST) return false;
    // A lane that is being removed requeues the calls that it has not begun.
    return this.#laneOf(call)?.endpoint.tx.hasTaken(call.position) ?? false;
  }

  /** The reader of the call's stream wants no more. Its task is asked to end, which settles the call. */
  stopStream(call: PendingCall): void {
    const { inFlight, onQueuedSettled, onRevoked } = this.#options;
    const lane = this.#laneOf(call);
    if (call.lane === QUEUED_ON_HOST) {
      inFlight.resolve(call, undefined);
      onQueuedSettled();
    } else if (lane === undefined) {
      return; // its worker is being removed, which settles it
    } else if (call.extra?.stream?.isOpen === false && lane.endpoint.tx.revokeAt(call.position)) {
      lane.load.remove(call.load);
      inFlight.resolve(call, undefined);
      onRevoked();
    } else {
      const { slot, generation, settings: { killAfterMs } } = call;
      const times = killAfterMs === Infinity ? undefined : this.timed.watch(call);
      if (times !== undefined && times.cancelledMs < 0) {
        times.cancelledMs = this.#options.now();
        this.#options.onOrphaned();
      }
      lane.postStream({ heddle: "cancel", slot, generation, index: 0 });
    }
  }

  /** The worker of a call whose stream is cancelled is about to be stopped, so the task has ended as its reader wants. */
  endStopped(call: PendingCall): void {
    this.#options.inFlight.leaveRunning(call);
    this.onGivenUp(call, new CallEndedError());
    this.#options.inFlight.resolve(call, undefined);
  }

  /** The caller aborts the call. */
  abort(call: PendingCall, reason: unknown): void {
    this.aborted++;
    this.#end(call, reason, () => this.#options.inFlight.reject(call, reason));
  }

  /** The call exceeds `runTimeoutMs` or `timeoutMs`. */
  expire(call: PendingCall, kind: "run" | "call"): void {
    const { runTimeoutMs, timeoutMs, timeoutValue } = call.settings;
    const error = new TimeoutError(kind, kind === "run" ? runTimeoutMs : timeoutMs);
    const { inFlight } = this.#options;
    this.timedOut++;
    this.#end(call, error, () => {
      if (timeoutValue === undefined || call.extra?.stream?.isOpen === true) {
        inFlight.reject(call, error);
      } else {
        this.onGivenUp(call, error);
        inFlight.resolve(call, timeoutValue);
      }
    });
  }

  /** The pool closes: notifies tasks that have signals, before their calls are rejected. */
  notifyAll(reason: unknown): void {
    const { inFlight } = this.#options;
    for (const call of inFlight.callsOf()) {
      inFlight.leaveRunning(call);
      if (mustNotify(call)) {
        const lane = this.#laneOf(call);
        if (lane !== undefined) postAbort(lane, call.slot, call.generation, reason);
      }
    }
  }

  onPoolEnding(reason: unknown): void {
    this.notifyAll(reason);
  }

  counters(): Readonly<Record<"timedOut" | "aborted", number>> {
    return { timedOut: this.timedOut, aborted: this.aborted };
  }

  /**
   * Revokes the call, or notifies its task once the call is settled. Packing a reason runs user code (getters), so
   * nothing of the call is touched after that.
   */
  #end(call: PendingCall, reason: unknown, settle: () => void): void {
    const { inFlight, onQueuedSettled, onRevoked, onOrphaned, now } = this.#options;
    const lane = this.#laneOf(call);
    const isNotified = mustNotify(call);
    call.extra?.stream?.drop();
    if (call.lane === QUEUED_ON_HOST) {
      settle();
      onQueuedSettled();
    } else if (lane === undefined) {
      // Its worker may be one that is being stopped and whose thread goes on (Deno).
      inFlight.leaveRunning(call);
      settle();
    } else if (lane.endpoint.tx.revokeAt(call.position)) {
      lane.load.remove(call.load);
      settle();
      onRevoked();
    } else {
      const { slot, generation, load, settings } = call;
      const { hardTimeoutMs, killAfterMs } = settings;
      const hasEnd = hardTimeoutMs !== Infinity || killAfterMs !== Infinity;
      const nowMs = hasEnd ? now() : 0;
      const begunMs = timesOf(call)?.begunMs ?? -1;
      const hardMs = (begunMs < 0 ? nowMs : begunMs) + hardTimeoutMs;
      const killAtMs = Math.min(hardMs, nowMs + killAfterMs);
      const limitMs = killAtMs === hardMs ? hardTimeoutMs : undefined;
      lane.load.orphaned.add(slot, generation, { load, killAtMs, limitMs });
      if (hasEnd) onOrphaned();
      inFlight.leaveRunning(call);
      settle();
      if (isNotified) postAbort(lane, slot, generation, reason);
    }
  }

  #laneOf(call: PendingCall): Lane | undefined {
    return this.#options.lanes.byId(call.lane);
  }
}

/** Whether the worker of a call hears of its early end. */
function mustNotify({ settings, extra }: PendingCall): boolean {
  return settings.hasSignal || extra?.stream !== undefined;
}
