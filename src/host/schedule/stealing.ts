/** Work stealing as the dispatcher sees it. Without it, calls stay in the lanes that they were sent to. */
import type { Timer } from "../../runtimes/runtime.ts";
import type { InFlight } from "../calls/in-flight.ts";
import type { QueuedCall } from "../calls/queued-call.ts";
import type { Lane } from "../lanes/lane.ts";
import type { LaneSet } from "../lanes/lane-set.ts";
import type { LaneChooser } from "./placement.ts";
import type { Revocation } from "./revocation.ts";

export interface StealingOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly placement: LaneChooser;
  readonly revocation: Revocation;
  /** Sends a call to a lane. False: no room. */
  readonly send: (lane: Lane, call: QueuedCall) => boolean;
  /** Queues calls, in this order, before all others of their priority. */
  readonly putBack: (calls: readonly QueuedCall[]) => void;
  readonly failLane: (lane: Lane, error: Error) => void;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  /** A timer moved calls to another lane. */
  readonly onMoved: () => void;
}

/** Calls in lanes that their workers have not begun and that could move. */
export interface FollowingCalls {
  readonly count: number;
  /** Of these, those behind a long call or in a lane that has begun none for a while. */
  readonly startable: number;
}

export const NONE_FOLLOWING: FollowingCalls = { count: 0, startable: 0 };

export interface Stealing {
  /** Moves calls to an idle lane. True: it moved some. `nowMs`: it considers stalled lanes as well. */
  rebalance(nowMs?: number): boolean;
  /** Calls behind others that a further worker would get. */
  findFollowing(): FollowingCalls;
  /** The pool ends. */
  stop(): void;
}
