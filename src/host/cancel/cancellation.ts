/**
 * Calls that end before they are answered: their time is up, or their caller has given them up.
 *
 * What no worker has begun is revoked and never runs. A task that runs is told, its caller is settled at
 * once, and its answer is dropped when it comes; whether the worker may go on for ever is a matter of
 * hard limits (`timekeeper.ts`).
 */
import { clearAbort, raiseAbort } from "../../sync/abort-epochs.ts";
import { TimeoutError } from "../../errors.ts";
import { type InFlight, type PendingCall, QUEUED_ON_HOST, RUN_BY_HOST } from "../in-flight.ts";
import type { Lane } from "../balance/lane.ts";
import type { LaneSet } from "../balance/lane-set.ts";

export interface CancellationOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly abortEpochs: Int32Array<SharedArrayBuffer>;
  readonly now: () => number;
  /** A call that waited on the host has been settled. */
  readonly onQueuedEnded: () => void;
  /** A lane has one call less to run: what waits may go now. */
  readonly onRevoked: () => void;
  /** A worker goes on with a call that it may have to be stopped for. */
  readonly onAbandoned: () => void;
}

export class Cancellation {
  /** Calls that ended by a time limit, and by their caller. */
  timedOut = 0;
  aborted = 0;
  readonly #options: CancellationOptions;

  constructor(options: CancellationOptions) {
    this.#options = options;
  }

  /** A call has been made, or made again, whose task gets a signal: what had its slot before is over. */
  begin({ slot, generation }: PendingCall): void {
    clearAbort(this.#options.abortEpochs, slot, generation);
  }

  /** Whether a worker, or the host, has begun the call. */
  hasBegun(call: PendingCall): boolean {
    if (call.lane === RUN_BY_HOST) return true;
    if (call.lane === QUEUED_ON_HOST) return false;
    // A lane that is being taken out gives back what it had not begun.
    return this.#laneOf(call)?.endpoint.tx.hasTaken(call.position) ?? false;
  }

  /** The caller does not want the answer any more. */
  abort(call: PendingCall, reason: unknown): void {
    this.aborted++;
    this.#end(call, reason, call.settings.killAfterMs, () => {
      this.#options.inFlight.reject(call, reason);
    });
  }

  /** Its time is up; `kind` says which. */
  expire(call: PendingCall, kind: "timeout" | "deadline"): void {
    const { timeoutMs, deadlineMs, onTimeout } = call.settings;
    const error = new TimeoutError(kind, kind === "timeout" ? timeoutMs : deadlineMs);
    const { inFlight } = this.#options;
    this.timedOut++;
    this.#end(call, error, Infinity, () => {
      if (kind === "deadline" || onTimeout.kind === "error") inFlight.reject(call, error);
      else if (onTimeout.kind === "value") inFlight.resolve(call, onTimeout.value);
      else inFlight.reject(call, onTimeout.reason);
    });
  }

  /** The pool is closed: tasks that can be told are, before their calls are rejected. */
  tellAll(reason: unknown): void {
    for (const call of this.#options.inFlight.callsOf()) {
      this.#raise(call);
      if (call.settings.hasSignal) {
        this.#laneOf(call)?.tellAbort(call.slot, call.generation, reason);
      }
    }
  }

  /** The call's worker is lost, or stopped: for the case that its thread goes on all the same. */
  lose(call: PendingCall, error: Error): void {
    this.#raise(call);
    this.#options.inFlight.reject(call, error);
  }

  /**
   * Keeps the call from beginning, or has its task told once it is settled. Reasons run user code on their way
   * to a worker (getters): nothing of the call is touched after that.
   */
  #end(call: PendingCall, reason: unknown, killAfterMs: number, settle: () => void): void {
    const { onQueuedEnded, onRevoked, onAbandoned, now } = this.#options;
    const lane = this.#laneOf(call);
    if (call.lane === QUEUED_ON_HOST) {
      settle();
      onQueuedEnded();
    } else if (lane === undefined) {
      // Its worker may be one that is being stopped, whose thread goes on where it cannot be.
      this.#raise(call);
      settle();
    } else if (lane.endpoint.tx.revokeAt(call.position)) {
      lane.load.remove(call.load);
      settle();
      onRevoked();
    } else {
      const { slot, generation, load, settings } = call;
      const { hardTimeoutMs } = settings;
      const hasEnd = hardTimeoutMs !== Infinity || killAfterMs !== Infinity;
      const nowMs = hasEnd ? now() : 0;
      const hardMs = (call.begunMs < 0 ? nowMs : call.begunMs) + hardTimeoutMs;
      const killAtMs = Math.min(hardMs, nowMs + killAfterMs);
      const limitMs = killAtMs === hardMs ? hardTimeoutMs : undefined;
      lane.load.abandoned.add(slot, generation, { load, killAtMs, limitMs });
      if (hasEnd) onAbandoned();
      this.#raise(call);
      settle();
      if (settings.hasSignal) lane.tellAbort(slot, generation, reason);
    }
  }

  /** Synchronous code of its task sees it from now on. */
  #raise({ settings, slot, generation }: PendingCall): void {
    if (settings.hasSignal) raiseAbort(this.#options.abortEpochs, slot, generation);
  }

  #laneOf(call: PendingCall): Lane | undefined {
    return this.#options.lanes.byId(call.lane);
  }
}
