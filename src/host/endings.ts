/**
 * Calls that end before they are answered: their time is up, or their caller has given them up.
 *
 * What no worker has begun is revoked and never runs. A task that runs is told, its caller is settled at
 * once, and its answer is dropped when it comes; whether the worker may go on for ever is a matter of
 * hard limits (`timekeeper.ts`).
 */
import { raiseAbort } from "../endpoint/abort-words.ts";
import { TimeoutError } from "../errors.ts";
import { type InFlight, type PendingCall, QUEUED_ON_HOST, RUN_BY_HOST } from "./in-flight.ts";
import type { Lane } from "./lane.ts";

export interface EndingsOptions {
  readonly inFlight: InFlight;
  readonly lanes: () => readonly Lane[];
  readonly abortWords: Int32Array<SharedArrayBuffer>;
  readonly now: () => number;
  /** A call that waited on the host is about to be settled. */
  readonly onQueuedEnded: () => void;
  /** A lane has one call less to run: what waits may go now. */
  readonly onRevoked: () => void;
  /** A worker goes on with a call that it may have to be stopped for. */
  readonly onAbandoned: () => void;
}

export class Endings {
  /** Calls that ended by a time limit, and by their caller. */
  timedOut = 0;
  aborted = 0;
  readonly #options: EndingsOptions;

  constructor(options: EndingsOptions) {
    this.#options = options;
  }

  /** Whether a worker, or the host, has begun the call. */
  hasBegun(call: PendingCall): boolean {
    if (call.lane === RUN_BY_HOST) return true;
    if (call.lane === QUEUED_ON_HOST || call.isSubmitting) return false;
    // A lane that is being taken out gives back what it had not begun.
    return this.#laneOf(call)?.endpoint.tx.hasTaken(call.position) ?? false;
  }

  /** The caller does not want the answer any more. */
  abort(call: PendingCall, reason: unknown): void {
    const { killAfterMs, hardTimeoutMs } = call.settings;
    this.aborted++;
    const now = killAfterMs === Infinity ? 0 : this.#options.now();
    this.#letGo(
      call,
      reason,
      Math.min(now + killAfterMs, call.begunMs < 0 ? Infinity : call.begunMs + hardTimeoutMs),
    );
    this.#options.inFlight.reject(call, reason);
  }

  /** Its time is up; `kind` says which. */
  expire(call: PendingCall, kind: "timeout" | "deadline"): void {
    const { timeoutMs, deadlineMs, hardTimeoutMs, onTimeout } = call.settings;
    const error = new TimeoutError(kind, kind === "timeout" ? timeoutMs : deadlineMs);
    this.timedOut++;
    this.#letGo(call, error, call.begunMs < 0 ? Infinity : call.begunMs + hardTimeoutMs);
    const { inFlight } = this.#options;
    if (kind === "deadline" || onTimeout.kind === "error") inFlight.reject(call, error);
    else if (onTimeout.kind === "value") inFlight.resolve(call, onTimeout.value);
    else inFlight.reject(call, onTimeout.reason);
  }

  /** Keeps the call from beginning, or tells its task. */
  #letGo(call: PendingCall, reason: unknown, killAtMs: number): void {
    // One that is being encoded is seen to by whoever sends it.
    if (call.isSubmitting || call.lane === RUN_BY_HOST) return;
    if (call.lane === QUEUED_ON_HOST) {
      this.#options.onQueuedEnded();
      return;
    }
    const lane = this.#laneOf(call);
    if (lane === undefined) return;
    if (lane.endpoint.tx.revokeAt(call.position)) {
      lane.load.remove(call.load);
      this.#options.onRevoked();
      return;
    }
    const { slot, generation } = call;
    lane.abandoned.add(slot, generation, { load: call.load, killAtMs });
    if (killAtMs !== Infinity) this.#options.onAbandoned();
    if (!call.settings.hasSignal) return;
    raiseAbort(this.#options.abortWords, slot, generation);
    lane.tellAbort(slot, generation, reason);
  }

  #laneOf(call: PendingCall): Lane | undefined {
    return this.#options.lanes().find((lane) => lane.id === call.lane);
  }
}
