/** What only watches a pool: the tracing channel, `metrics` and `debug`. */
import { DebugLog, type DebugTopic } from "../../host/observe/debug-log.ts";
import { callMetricsBytes, CallStamps } from "../../metering/call-metrics.ts";
import { MAX_MODULE_TASKS } from "../../protocol/start-data.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

/** Name of the tracing channel in `node:diagnostics_channel`. */
export const CHANNEL = "heddle:call";

/** With `metrics: true`. */
export function createStamps({ sources, taskModule, runtime }: PoolSpec): CallStamps {
  const tasks = taskModule === undefined ? sources.length : MAX_MODULE_TASKS;
  const memory = new SharedArrayBuffer(callMetricsBytes(tasks));
  const now = (): number => runtime.originMs + runtime.now();
  return new CallStamps(memory, now, runtime.microtask);
}

export function createDebugLog(
  { options: { workerOptions }, runtime }: PoolSpec,
  topics: readonly DebugTopic[],
): DebugLog {
  return new DebugLog(topics, workerOptions.name, runtime);
}
