/**
 * What the phases of a lane (`lanes/phase.ts`) mean for calls: those that its worker has not begun go to others when it is
 * paused, drains or ends.
 */
import { ProtocolError } from "../../errors.ts";
import type { InFlight, PendingCall } from "../calls/in-flight.ts";
import type { PendingWork } from "../calls/pending-work.ts";
import type { Lane } from "../lanes/lane.ts";
import type { LaneSet } from "../lanes/lane-set.ts";
import type { LaneChooser } from "../schedule/placement.ts";
import type { DispatcherEvents } from "./dispatcher-events.ts";
import type { WaitingCalls } from "./queue/waiting-calls.ts";
import { MAX_RESPONSES, type Responses } from "./responses.ts";

/** Why a worker drains that has reached a limit. */
export const RECYCLED = "it was recycled";

export interface LanePhasesParts {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly pending: PendingWork;
  readonly placement: LaneChooser;
  readonly responses: Responses;
  readonly waiting: WaitingCalls;
  readonly events: Pick<DispatcherEvents, "onWait">;
  /** Queues the calls that a lane has not begun (`Revocation.requeue`). */
  readonly requeue: (lane: Lane) => void;
}

export class LanePhases {
  readonly #parts: LanePhasesParts;

  constructor(parts: LanePhasesParts) {
    this.#parts = parts;
  }

  /** A worker may run any call from now on. False: it has ended, or drains. */
  open(lane: Lane): boolean {
    const { lanes, pending, waiting } = this.#parts;
    if (!lanes.move(lane, "open")) return false;
    pending.isDue = true;
    // The call that another worker has got before it is ready: this one is ready.
    if (lanes.starting !== undefined) this.#parts.requeue(lanes.starting);
    waiting.pinned?.onOpened();
    pending.kick();
    return true;
  }

  /** A worker waits with its thread: calls that it has not begun run elsewhere, and it gets no others. */
  pause(lane: Lane): void {
    const { lanes, pending, placement, requeue, waiting, events } = this.#parts;
    lane.isBlocked = true;
    if (!lanes.move(lane, "suspended")) return;
    placement.forget(lane);
    pending.isDue = true;
    requeue(lane);
    waiting.flush();
    events.onWait(); // a further worker may have to start
  }

  /** A worker that was paused goes on. */
  resume(lane: Lane): void {
    lane.isBlocked = false;
    if (lane.phase === "suspended") this.open(lane);
  }

  /**
   * A worker gets no further calls. Those that it has not begun run elsewhere. It ends, for this reason, when it has answered
   * the others.
   */
  drain(lane: Lane, reason: string): void {
    const { pending, requeue } = this.#parts;
    if (!this.keepCalls(lane, reason)) return;
    requeue(lane);
    pending.kick();
    this.endDrained();
  }

  /** The same, but it keeps the calls that it has. False: it got none before. */
  keepCalls(lane: Lane, reason: string): boolean {
    const { lanes, pending, placement, waiting } = this.#parts;
    placement.forget(lane);
    pending.isDue = true;
    if (!lanes.move(lane, "draining")) return false;
    lane.endsFor = reason;
    waiting.pinned?.onClosed(lane.id, "it takes no more calls");
    return true;
  }

  /** Ends the workers that drain and have answered all their calls. */
  endDrained(): void {
    for (const lane of this.#parts.lanes.findDrained()) this.end(lane, lane.endsFor!);
  }

  /**
   * Ends a worker. With a reason in words it is asked to exit: it has no calls, or only such as are settled for their callers. With
   * an error it is stopped at once, also if it closes already: it broke the protocol or exceeded a limit.
   */
  end(lane: Lane, reason: string | Error): void {
    const { lanes, placement, requeue } = this.#parts;
    const isFirst = lanes.move(lane, "closing");
    if (typeof reason === "string") {
      if (!isFirst) return;
      this.#settle(lane, reason);
    } else {
      placement.forget(lane);
      lanes.ignore(lane);
      // Before the stop: its worker should not begin any of them meanwhile. Those in damaged rings wait for the end of its thread.
      try {
        if (isFirst && !(reason instanceof ProtocolError)) requeue(lane);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
      }
    }
    void lane.end(reason);
  }

  /** The worker of a lane has ended. Returns the calls that it was running, still unsettled. */
  onGone(lane: Lane): PendingCall[] {
    const { inFlight } = this.#parts;
    this.#settle(lane, "it ended");
    inFlight.lateRuns?.onGone(lane.id);
    return inFlight.size === 0 ? [] : inFlight.callsOf(lane.id);
  }

  /**
   * Settles the calls that a lane has answered, and queues those that it has not begun, except calls sent by port without a kept
   * snapshot, which count as running.
   */
  #settle(lane: Lane, reason: string): void {
    const { lanes, pending, placement, requeue, responses, waiting } = this.#parts;
    lanes.ignore(lane);
    placement.forget(lane);
    waiting.pinned?.onClosed(lane.id, reason);
    try {
      responses.take(lane, MAX_RESPONSES);
      requeue(lane);
    } catch (error) {
      // Damaged beyond this point: the calls behind it are still unsettled.
      if (!(error instanceof ProtocolError)) throw error;
    }
    lane.load.clear();
    pending.isDue = true;
    pending.kick();
  }
}
