/** A worker that shares no memory with its host: what takes the place of parking and waking (`lane/mirror/`). */
import type { Endpoint } from "../lane/endpoint.ts";
import { TASK_WORD } from "../lane/frame.ts";
import { links } from "../lane/links.ts";
import type { WorkerMirror } from "../lane/mirror/worker-mirror.ts";
import { KIND_MASK, LONG } from "../metering/task-timings.ts";
import { type MirroredStart, withMemory } from "../protocol/mirrored-start.ts";
import type { WorkerMessage, WorkerStart } from "../protocol/start-data.ts";
import { EMPTY } from "../ring/consumer.ts";

/** The start data with memory of the worker's own, whose messages follow what it has written. */
export function openMirrored(
  given: MirroredStart,
  site: { post: (message: WorkerMessage, transfer?: readonly unknown[]) => void },
  now: () => number,
): { readonly start: WorkerStart; readonly mirror: WorkerMirror } {
  const start = withMemory(given);
  const { post } = site;
  const mirror = links.current!.createWorkerMirror({
    memory: start.lane,
    requestCapacity: start.requestCapacity,
    loads: new Int32Array(start.taskTimings),
    post,
    now,
  });
  site.post = (message) => {
    mirror.flush();
    post(message);
  };
  return { start, mirror };
}

/** Gives the mirror the endpoint of the worker. */
export function followEndpoint(mirror: WorkerMirror, { rx }: Endpoint, start: WorkerStart): void {
  const loads = new Int32Array(start.taskTimings);
  mirror.publish = () => rx.publish();
  mirror.hasMore = () => {
    const index = rx.poll();
    if (index === EMPTY) return false;
    const load = loads[rx.memory.i32[(index >> 2) + TASK_WORD]!]!;
    return load !== 0 && (load & KIND_MASK) !== LONG;
  };
}
