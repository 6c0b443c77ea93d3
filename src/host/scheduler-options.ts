/** What a scheduler is made of, and what it tells its owner. */
import type { Signature } from "../codec/struct/signature.ts";
import type { Holder } from "../endpoint/hold.ts";
import type { ServiceTimes } from "../endpoint/service-times.ts";
import type { Backpressure } from "./backpressure.ts";
import type { PendingCall } from "./in-flight.ts";
import type { Lane } from "./lane.ts";
import type { LaneChooser } from "./placement.ts";

export interface SchedulerEvents {
  /** A call was submitted: see to it that `drain` is called. */
  onSubmit(): void;
  /** A call has been made that has settings of its own. */
  onSettings(call: PendingCall): void;
  /** A call is made again, with another id. */
  onRenewed(call: PendingCall): void;
  /** A lane has been given as many calls as `recycleAfter` says. May be told again and again. */
  onWorn(lane: Lane): void;
  /** A retired lane has answered every call. */
  onSpent(lane: Lane): void;
  onPark(): void;
  /** A call has to wait on the host. */
  onWait(): void;
  /** Nothing is outstanding; `inFlight.size` says whether calls still wait on the host. */
  onIdle(): void;
  /** No call is waiting for anything any more. */
  onEmpty(): void;
}

export interface SchedulerOptions {
  readonly holder: Holder;
  readonly events: SchedulerEvents;
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  readonly placement: LaneChooser;
  readonly backpressure: Backpressure;
  /** Calls that a worker is given before another takes its place; Infinity: as many as come. */
  readonly recycleAfter: number;
  /** Calls back after `delayMs`, without keeping the process running. */
  readonly later: (callback: () => void, delayMs: number) => void;
  readonly serviceTimes: ServiceTimes;
  /** What each task declares of its values, by its index. */
  readonly signatures: readonly (Signature | undefined)[];
}
