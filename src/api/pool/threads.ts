/** How a pool starts its threads, or workers on the host where no thread can start. */
import type { Codec } from "../../codec/codec.ts";
import { makers } from "../../host/workers/feature.ts";
import type { LaneOptions } from "../../host/workers/thread-lane.ts";
import { warmUp } from "../../lane/warm-up.ts";
import type { PoolStart } from "../../protocol/start-data.ts";
import type { WorkerHandle } from "../../runtimes/runtime.ts";
import { startFailure } from "../options/worker-options.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

/**
 * Starts the first thread early: it loads its code while the host creates the rest of the pool. Returns a function that
 * returns this thread first, then starts others.
 */
export function startThreads(
  { options, sources, taskModule, runtime, workerEntry }: PoolSpec,
): LaneOptions["spawn"] {
  const { name, thread } = options.workerOptions;
  const modules = Object.values(options.modules).map((url) => runtime.toModuleUrl(url));
  if (taskModule !== undefined) modules.push(taskModule);
  else for (const { moduleUrl } of sources) modules.push(moduleUrl);
  const { workerLimits: limits } = options;
  let first: WorkerHandle | undefined;
  const spawn = (workerId: number): WorkerHandle => {
    const handle = first;
    first = undefined;
    if (handle !== undefined) return handle;
    try {
      return runtime.spawnWorker(workerEntry, `${name}-${workerId}`, limits, modules, thread);
    } catch (error) {
      throw startFailure(error, thread);
    }
  };
  if (options.minThreads > 0) {
    try {
      first = spawn(0);
    } catch (error) {
      // Otherwise the supervisor tries again, and deals with the failure.
      if (options.onUnavailable !== "host") throw error;
    }
  }
  // The thread is still unused only if creating the rest of the pool has failed.
  runtime.microtask(() => void first?.terminate());
  return spawn;
}

export function laneOptionsOf(
  { options, runtime, known, loadWorkerCode }: PoolSpec,
  codec: Codec,
  spawn: LaneOptions["spawn"],
  start: PoolStart,
): LaneOptions {
  const { startTimeoutMs, teardownTimeoutMs, ringBytes: ringSizes } = options;
  runtime.macrotask(() => { // the thread loads its code meanwhile
    if (codec.keyLists.hasSeenKeys) warmUp(runtime);
  });
  let spawnOnHost: LaneOptions["spawnOnHost"];
  if (options.onUnavailable === "host" && makers.hostWorkers !== undefined) {
    const inContext = runtime.bindContext();
    const { hostWorkers } = makers;
    spawnOnHost = () => hostWorkers({ runtime, known, inContext, loadWorkerCode });
  }
  return {
    runtime,
    codec,
    spawn,
    spawnOnHost,
    ringSizes,
    connect: options.transport === "messages" ? makers.connect : undefined,
    start,
    startTimeoutMs,
    teardownTimeoutMs,
  };
}
