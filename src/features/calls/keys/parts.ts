/** The broadcasts of a pool. Made at first use. */
import { Broadcasts } from "./broadcasts.ts";
import type { PoolParts } from "../../../api/pool/parts.ts";

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
    fail: (lane, error) => dispatcher.phases.end(lane, error),
  });
}
