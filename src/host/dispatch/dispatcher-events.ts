/** What the dispatcher tells the other parts of a pool. */
import type { Lane } from "../lanes/lane.ts";
import type { PendingCall } from "../calls/in-flight.ts";

export interface DispatcherEvents {
  /**
   * A record of a kind that a plain call does not have; `call`: the one that it names, unless that is settled. Reads and releases
   * it. False: no feature reads this kind.
   */
  onRecord(lane: Lane, index: number, call: PendingCall | undefined, kind: number): boolean;
  /** A call with settings of its own was made. Runs no user code. */
  onSettings(call: PendingCall): void;
  /** A call was aborted by its own getters, or by the balancer, before it was sent. */
  onAborted(): void;
  /** A lane has got `recycleAfter` calls. May be repeated. */
  onDueForRecycling(lane: Lane): void;
  /** A lane has got its last call. May be repeated. */
  onLastCall(lane: Lane): void;
  /** The poll loop calls it without `this`. */
  readonly onPark: () => void;
  /** A call has to wait on the host. */
  onWait(): void;
  /** No lane has calls. `inFlight.size` includes calls that still wait on the host. */
  onIdle(): void;
  /** No call is in flight. */
  onEmpty(): void;
  /** Only calls are in flight whose streams nobody waits for. */
  onOnlyIdleStreams(): void;
}
