/**
 * Cancellation: calls that end before their response, by a time limit or by their caller.
 *
 * A call that no worker has begun is revoked and never runs. If its task runs, the task is notified, the caller is
 * settled at once, and the response is dropped. Hard limits (`deadlines.ts`) bound how long such a task may go on.
 * docs/internals/cancellation.md explains the protocol.
 */
import { clearAbort, raiseAbort } from "../../sync/abort-epochs.ts";
import { CallEndedError, TimeoutError } from "../../errors.ts";
import {
  type InFlight,
  type PendingCall,
  QUEUED_ON_HOST,
  RUN_BY_HOST,
} from "../calls/in-flight.ts";
import type { Lane } from "../lanes/lane.ts";
import type { LaneSet } from "../lanes/lane-set.ts";

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

export class Cancellation {
  /** Calls ended by a time limit, and by their caller. */
  timedOut = 0;
  aborted = 0;
  /** A call is about to resolve, although its task has not ended: that is over, as if it were rejected for this reason. */
  onGivenUp: (call: PendingCall, reason: unknown) => void = () => {};
  readonly #options: CancellationOptions;

  constructor(options: CancellationOptions) {
    this.#options = options;
  }

  /** A call whose task gets a signal was made, or made again: earlier calls of its slot are over. */
  begin({ slot, generation }: PendingCall): void {
    clearAbort(this.#options.abortEpochs, slot, generation);
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
    } else if (call.stream?.isOpen === false && lane.endpoint.tx.revokeAt(call.position)) {
      lane.load.remove(call.load);
      inFlight.resolve(call, undefined);
      onRevoked();
    } else {
      const { slot, generation, settings: { killAfterMs } } = call;
      if (killAfterMs !== Infinity && call.cancelledMs < 0) {
        call.cancelledMs = this.#options.now();
        inFlight.watchTime(call);
        this.#options.onOrphaned();
      }
      lane.postStream({ heddle: "cancel", slot, generation, index: 0 });
    }
  }

  /** The worker of a call whose stream is cancelled is about to be stopped, so the task has ended as its reader wants. */
  endStopped(call: PendingCall): void {
    this.#leaveRunning(call);
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
      if (timeoutValue === undefined || call.stream?.isOpen === true) {
        inFlight.reject(call, error);
      } else {
        this.onGivenUp(call, error);
        inFlight.resolve(call, timeoutValue);
      }
    });
  }

  /** The pool closes: notifies tasks that have signals, before their calls are rejected. */
  notifyAll(reason: unknown): void {
    for (const call of this.#options.inFlight.callsOf()) {
      this.#leaveRunning(call);
      if (call.settings.hasSignal || call.stream !== undefined) {
        this.#laneOf(call)?.notifyAbort(call.slot, call.generation, reason);
      }
    }
  }

  onPoolEnding(reason: unknown): void {
    this.notifyAll(reason);
  }

  /** A call that is made again has another id. */
  onRenewed(call: PendingCall): void {
    if (call.settings.hasSignal) this.begin(call);
  }

  counters(): Readonly<Record<"timedOut" | "aborted", number>> {
    return { timedOut: this.timedOut, aborted: this.aborted };
  }

  /** The call's worker is lost, and it is about to be rejected. */
  onCallLost(call: PendingCall): void {
    this.#leaveRunning(call);
  }

  /** The call's worker is lost or stopped. Its thread may go on, so the epoch is raised as well. */
  rejectLost(call: PendingCall, error: Error): void {
    this.#leaveRunning(call);
    this.#options.inFlight.reject(call, error);
  }

  /**
   * Revokes the call, or notifies its task once the call is settled. Packing a reason runs user code (getters), so
   * nothing of the call is touched after that.
   */
  #end(call: PendingCall, reason: unknown, settle: () => void): void {
    const { onQueuedSettled, onRevoked, onOrphaned, now } = this.#options;
    const lane = this.#laneOf(call);
    const mustNotify = call.settings.hasSignal || call.stream !== undefined;
    call.stream?.drop();
    if (call.lane === QUEUED_ON_HOST) {
      settle();
      onQueuedSettled();
    } else if (lane === undefined) {
      // Its worker may be one that is being stopped and whose thread goes on (Deno).
      this.#leaveRunning(call);
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
      const hardMs = (call.begunMs < 0 ? nowMs : call.begunMs) + hardTimeoutMs;
      const killAtMs = Math.min(hardMs, nowMs + killAfterMs);
      const limitMs = killAtMs === hardMs ? hardTimeoutMs : undefined;
      lane.load.orphaned.add(slot, generation, { load, killAtMs, limitMs });
      if (hasEnd) onOrphaned();
      this.#leaveRunning(call);
      settle();
      if (mustNotify) lane.notifyAbort(slot, generation, reason);
    }
  }

  /** The call will be settled while its task may go on. Synchronous code of the task sees the abort from now on. */
  #leaveRunning(call: PendingCall): void {
    const { settings, slot, generation, lane } = call;
    if (settings.hasSignal) raiseAbort(this.#options.abortEpochs, slot, generation);
    if (lane !== QUEUED_ON_HOST) settings.run?.onLeftRunning(call);
  }

  #laneOf(call: PendingCall): Lane | undefined {
    return this.#options.lanes.byId(call.lane);
  }
}
