/** A worker that shares no memory with its host: what takes the place of parking and waking (`features/workers/mirror/`). */
import { TASK_WORD } from "../../../../lane/frame.ts";
import type { MirrorMessage } from "../mirror-message.ts";
import { WorkerMirror } from "./worker-mirror.ts";
import { KIND_MASK, LONG } from "../../../../metering/task-timings.ts";
import { type MirrorData, withMemory } from "../mirrored-start.ts";
import { EMPTY } from "../../../../ring/consumer.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";

/** Gives the worker memory of its own, whose messages follow what it has written. */
export function openMirrored(data: MirrorData, core: WorkerCore): void {
  const start = core.start = withMemory(core.start, data);
  const { post, runtime } = core;
  const loads = new Int32Array(start.taskTimings);
  const mirror = core.signals = new WorkerMirror({
    memory: start.lane,
    requestCapacity: start.requestCapacity,
    loads,
    post,
    now: runtime.now,
  });
  core.post = (message) => {
    mirror.flush();
    post(message);
  };
  core.onLoaded.push(() => {
    const { rx } = core.endpoint;
    mirror.publish = () => rx.publish();
    mirror.hasMore = () => {
      const index = rx.poll();
      if (index === EMPTY) return false;
      const load = loads[rx.memory.i32[(index >> 2) + TASK_WORD]!]!;
      return load !== 0 && (load & KIND_MASK) !== LONG;
    };
  });
}

/** What the host has written. */
export function onMirrorMessage(message: MirrorMessage, { signals, loop }: WorkerCore): void {
  (signals as WorkerMirror).receive(message);
  loop?.onWakeMessage();
}
