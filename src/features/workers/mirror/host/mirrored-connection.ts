/** How a lane's host wakes its worker where they share no memory: by messages that bring what it has written. */
import { MAX_SENT } from "../mirror-message.ts";
import { HostMirror } from "./host-mirror.ts";
import { ASYNC, KIND_MASK, SHORT } from "../../../../metering/task-timings.ts";
import { withoutMemory } from "../mirrored-start.ts";
import type { Connect, LaneConnection } from "../../../../host/workers/lane-connection.ts";

export const connectMirrored: Connect = (handle, start, ringSizes, runtime): LaneConnection => {
  const mirror = new HostMirror({
    memory: start.lane,
    requestCapacity: ringSizes.requests,
    loads: new Int32Array(start.taskTimings),
    maxSent: handle.maxSent ?? MAX_SENT,
    mayFollow: (load) => mayFollow(load, start.maxConcurrency),
    post: (message, transfer) => handle.post(message, transfer),
    microtask: runtime.microtask,
    coarseNow: runtime.coarseNow,
  });
  const sharesWords = runtime.sharesMemory && handle.channel === undefined;
  handle.post(withoutMemory(start, ringSizes, sharesWords), [start.payloadPort]);
  return { mirror, responseSpace: mirror, requestSpace: mirror, waker: mirror };
};

/** Whether a mirrored lane may have such a call behind others: a short one, or an async one that its worker takes at once. */
function mayFollow(load: number, maxConcurrency: number): boolean {
  const kind = load & KIND_MASK;
  return load !== 0 && (kind === SHORT || (kind === ASYNC && maxConcurrency >= MAX_SENT));
}
