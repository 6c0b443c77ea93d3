/**
 * Cancellation: calls that end before their response, by a time limit or by their caller.
 *
 * A call that no worker has begun is revoked and never runs. If its task runs, the task is notified, the caller is
 * settled at once, and the response is dropped. Hard limits (`deadlines.ts`) bound how long such a task may go on.
 * docs/internals/cancellation.md explains the protocol.
 */
import { clearAbort, raiseAbort } from "../abort-epochs.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";
import { textOf } from "../../../../codec/kinds/errors.ts";
import { CallEndedError, TimeoutError } from "../../../../errors.ts";
import type { CallPart } from "../../../../host/calls/call-extra.ts";
import { type PendingCall, QUEUED_ON_HOST, RUN_BY_HOST } from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { packReason } from "../../../../protocol/abort-reason.ts";
import type { PackedReason } from "../../../../protocol/start-data.ts";
import { Deadlines } from "./deadlines.ts";

export function createCancellation(host: PoolParts): Cancellation {
  return new Cancellation(host);
}

/** It is a part of each call whose task gets a signal. */
export class Cancellation implements CallPart {
  /** Calls ended by a time limit, and by their caller. */
  timedOut = 0;
  aborted = 0;
  /** A call is about to resolve, although its task has not ended: that is over, as if it were rejected for this reason. */
  onGivenUp: (call: PendingCall, reason: unknown) => void = () => {};
  readonly #host: PoolParts;
  readonly #epochs: Int32Array<SharedArrayBuffer>;
  #deadlines: Deadlines | undefined;

  constructor(host: PoolParts) {
    this.#host = host;
    this.#epochs = new Int32Array(host.startData["limits"] as SharedArrayBuffer);
  }

  /** Made at first use. */
  get deadlines(): Deadlines {
    return this.#deadlines ??= new Deadlines(this.#host, this);
  }

  /** A call whose task gets a signal was made. */
  begin(call: PendingCall): void {
    call.keep().add(this);
    this.onRenewed(call);
  }

  /** It was made, or made again: earlier calls of its slot are over. */
  onRenewed({ slot, generation }: PendingCall): void {
    clearAbort(this.#epochs, slot, generation);
  }

  /** Its task may go on, whose synchronous code sees the abort from now on. */
  onLeftRunning({ slot, generation }: PendingCall): void {
    raiseAbort(this.#epochs, slot, generation);
  }

  /** Whether a worker, or the host, has begun the call. */
  hasBegun(call: PendingCall): boolean {
    if (call.lane === RUN_BY_HOST) return true;
    // A lane that is being removed requeues the calls that it has not begun.
    return this.#laneOf(call)?.endpoint.tx.hasTaken(call.position) ?? false;
  }

  /** The reader of the call's stream wants no more. Its task is asked to end, which settles the call. */
  stopStream(call: PendingCall): void {
    const { dispatcher: { inFlight }, spec: { runtime } } = this.#host;
    const { slot, generation, settings: { killAfterMs } } = call;
    const extra = call.keep();
    if (
      extra.stream?.isOpen !== true && this.#revoke(call, () => inFlight.resolve(call, undefined))
    ) return;
    const lane = this.#laneOf(call);
    if (lane === undefined) return; // its worker is being removed, which settles it
    if (killAfterMs !== Infinity && extra.cancelledMs < 0) {
      extra.cancelledMs = runtime.now();
      this.deadlines.add(call);
    }
    extra.isCancelled = true;
    lane.postStream({ heddle: "cancel", slot, generation, index: 0 });
  }

  /** The worker of a call whose stream is cancelled is about to be stopped, so the task has ended as its reader wants. */
  endStopped(call: PendingCall): void {
    const { inFlight } = this.#host.dispatcher;
    inFlight.leaveRunning(call);
    this.onGivenUp(call, new CallEndedError());
    inFlight.resolve(call, undefined);
  }

  /** The caller aborts the call. */
  abort(call: PendingCall, reason: unknown): void {
    this.aborted++;
    this.#end(call, reason, undefined);
  }

  /** The call exceeds `runTimeoutMs`, `stallMs` or `timeoutMs`. */
  expire(call: PendingCall, kind: "run" | "call" | "stall"): void {
    const { runTimeoutMs, stallMs, timeoutMs, timeoutValue } = call.settings;
    const limits = { run: runTimeoutMs, stall: stallMs, call: timeoutMs };
    this.timedOut++;
    const value = call.extra?.stream?.isOpen === true ? undefined : timeoutValue;
    this.#end(call, new TimeoutError(kind, limits[kind]), value);
  }

  /** The pool closes: notifies tasks that have signals, before their calls are rejected. */
  onPoolEnding(reason: unknown): void {
    const { inFlight } = this.#host.dispatcher;
    for (const call of inFlight.callsOf()) {
      inFlight.leaveRunning(call);
      const lane = this.#laneOf(call);
      if (lane !== undefined && mustNotify(call)) {
        postAbort(lane, call.slot, call.generation, reason);
      }
    }
  }

  onPoolEnd(): void {
    this.#deadlines?.stop();
  }

  counters(): Readonly<Record<"timedOut" | "aborted", number>> {
    return { timedOut: this.timedOut, aborted: this.aborted };
  }

  /**
   * Revokes the call, or notifies its task once the call is settled: with `value`, unless that is undefined. Packing a reason runs
   * user code (getters), so nothing of the call is touched after that.
   */
  #end(call: PendingCall, reason: unknown, value: unknown): void {
    const { inFlight } = this.#host.dispatcher;
    const { slot, generation } = call;
    const lane = this.#laneOf(call);
    const isNotified = mustNotify(call);
    const settle = (): void => {
      if (value === undefined) return inFlight.reject(call, reason);
      this.onGivenUp(call, reason);
      inFlight.resolve(call, value);
    };
    call.extra?.stream?.drop();
    if (this.#revoke(call, settle)) return;
    // Without a lane, its worker may be one that is being stopped and whose thread goes on (Deno).
    if (lane !== undefined) this.#orphan(call, lane);
    inFlight.leaveRunning(call);
    settle();
    if (isNotified && lane !== undefined) postAbort(lane, slot, generation, reason);
  }

  /** Settles a call that nobody has begun, and returns true: it never runs. */
  #revoke(call: PendingCall, settle: () => void): boolean {
    const { waiting } = this.#host.dispatcher;
    const lane = this.#laneOf(call);
    if (call.lane === QUEUED_ON_HOST) {
      settle();
      waiting.onQueuedSettled();
      return true;
    }
    if (lane === undefined || !lane.endpoint.tx.revokeAt(call.position)) return false;
    lane.load.remove(call.load);
    settle();
    this.#host.loop.kick();
    return true;
  }

  /** Its worker continues with the call, and may have to be stopped for it. */
  #orphan({ slot, generation, load, settings, extra }: PendingCall, lane: Lane): void {
    const { hardTimeoutMs, killAfterMs } = settings;
    const hasEnd = hardTimeoutMs !== Infinity || killAfterMs !== Infinity;
    const nowMs = hasEnd ? this.#host.spec.runtime.now() : 0;
    const begunMs = extra?.begunMs ?? -1;
    const hardMs = (begunMs < 0 ? nowMs : begunMs) + hardTimeoutMs;
    const killAtMs = Math.min(hardMs, nowMs + killAfterMs);
    const limitMs = killAtMs === hardMs ? hardTimeoutMs : undefined;
    lane.load.orphaned.add(slot, generation, { load, killAtMs, limitMs });
    if (hasEnd) this.deadlines.watch();
  }

  #laneOf(call: PendingCall): Lane | undefined {
    return this.#host.dispatcher.lanes.byId(call.lane);
  }
}

/** Whether the worker of a call hears of its early end. */
function mustNotify({ settings, extra }: PendingCall): boolean {
  return settings.hasSignal || extra?.stream !== undefined;
}

/** Tells a worker that one of its calls was aborted. */
function postAbort(
  lane: Pick<Lane, "access" | "postStream">,
  slot: number,
  generation: number,
  reason: unknown,
): void {
  const post = (packed: PackedReason): boolean =>
    lane.postStream({ heddle: "abort", slot, generation, reason: packed });
  try {
    post(packReason(lane.access, reason));
  } catch {
    // A reason that cannot be cloned is sent as text. Even that may fail.
    try {
      post({ value: textOf(reason) });
    } catch {
      // The worker is about to end.
    }
  }
}
