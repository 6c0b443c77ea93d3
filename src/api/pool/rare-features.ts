/** How the parts of rarely used features are made, when they are first used (`PoolParts`). */
import { RUN_BY_HOST } from "../../host/calls/in-flight.ts";
import { LateRuns } from "../../host/calls/late-runs.ts";
import { Broadcasts } from "../../host/dispatch/broadcasts.ts";
import type { PoolParts } from "./parts.ts";

export function createBroadcasts(
  { spec: { signatures }, snapshots, dispatcher, supervisor }: PoolParts,
): Broadcasts {
  return new Broadcasts({
    snapshots,
    signatures,
    workerIds: () => supervisor.workerIds,
    isStarting: (workerId) => supervisor.isStarting(workerId),
    call: (...call) => dispatcher.submitter.submitSnapshot(...call),
    redeclare: (snapshot, task) => dispatcher.submitter.redeclare(snapshot, task),
    fail: (lane, error) => dispatcher.failLane(lane, error),
  });
}

/** For scopes. */
export function createLateRuns({ supervisor }: PoolParts): LateRuns {
  return new LateRuns((workerId) => {
    if (workerId === RUN_BY_HOST) return true;
    return [...supervisor.threads].some(({ id }) => id === workerId);
  });
}
