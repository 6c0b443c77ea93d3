/** What only watches a pool: the tracing channel, and the options `metrics` and `debug`. */
import type { CallFollower } from "../../../../host/dispatch/call-entry.ts";
import { CallObserver } from "./call-observer.ts";
import { DebugLog } from "./debug-log.ts";
import { StampingSender } from "./stamping-sender.ts";
import { callMetricsBytes, CallStamps, type ObserveData } from "../call-metrics.ts";
import { MAX_MODULE_TASKS } from "../../../../protocol/start-data.ts";
import type { TracingChannel } from "../../../../runtimes/runtime.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";

/** With `metrics: true`. */
export function createStamps({ spec: { sources, taskModule, runtime } }: PoolParts): CallStamps {
  const tasks = taskModule === undefined ? sources.length : MAX_MODULE_TASKS;
  const memory = new SharedArrayBuffer(callMetricsBytes(tasks));
  const now = (): number => runtime.originMs + runtime.now();
  return new CallStamps(memory, now, runtime.microtask);
}

/** With `debug`. */
function createDebugLog({ spec: { options, runtime } }: PoolParts): DebugLog {
  return new DebugLog(options.debug ?? [], options.workerOptions.name, runtime);
}

export function createFollower(host: PoolParts, channel: TracingChannel): CallFollower {
  const { spec: { options }, dispatcher, ownFolder } = host;
  return new CallObserver({
    channel,
    debug: host.existing(createDebugLog),
    stamps: host.existing(createStamps),
    pool: options.workerOptions.name,
    ownFolder,
    dispatcher,
  });
}

/** Prepares a pool with `metrics`, `debug`, `context` or `output`, before its parts are made. */
export function observe(host: PoolParts): void {
  const { options, runtime } = host.spec;
  const { metrics, debug: topics, modules: { context } } = options;
  const output = typeof options.output === "function"
    ? "take"
    : options.output === "ignore"
    ? "ignore"
    : undefined;
  const stamps = metrics ? host.part(createStamps) : undefined;
  if (stamps !== undefined) {
    host.createSender = (options) => new StampingSender(options, stamps);
    host.startData["scaling"] = Infinity; // without a limit of its own, memory is measured all the same
  }
  const debug = topics && host.part(createDebugLog);
  const printsWaits = debug?.waits === true;
  if (printsWaits) printWaits(host, debug);
  if (stamps === undefined && context === undefined && !printsWaits && output === undefined) return;
  const data: ObserveData = {
    metrics: stamps?.buffer,
    printsWaitsFromMs: printsWaits ? debug.fromMs : undefined,
    context: context && runtime.toModuleUrl(context),
    output,
  };
  host.startData["observe"] = data;
}

/** Prints each park, and each wake in either direction. */
function printWaits(host: PoolParts, debug: DebugLog): void {
  const { onPark, onWake } = host;
  host.onPark = () => {
    debug.print(`the host parked, ${host.dispatcher.inFlight.size} calls are in flight`);
    onPark();
  };
  host.onWake = (worker) => {
    debug.print(`worker ${worker.id} woke the host`);
    onWake(worker);
  };
  host.onWoken = (id) => debug.print(`the host woke worker ${id}`);
}
