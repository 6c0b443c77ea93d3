/** What measures and follows the calls of a worker: `metrics`, `debug`, `context`, `output`. */
import { CallMeter, type ObserveData } from "../call-metrics.ts";
import { debugLine } from "../debug-line.ts";
import { CallContext } from "./call-context.ts";
import { startPrinting } from "./printing.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";

export function startObserving(data: ObserveData, core: WorkerCore): void {
  const { metrics, printsWaitsFromMs, context, output } = data;
  if (output !== undefined) startPrinting(core, output === "ignore");
  if (metrics !== undefined) core.onLoaded.push(() => measure(metrics, core));
  if (printsWaitsFromMs !== undefined) {
    core.onParked = () => {
      const { runtime, start: { poolName, workerId } } = core;
      const ms = core.sharedNow() - printsWaitsFromMs;
      runtime.printError(debugLine(poolName, ms, `worker ${workerId} parked`));
    };
  }
  if (context === undefined) return;
  core.modules.push(context);
  core.loads.push(async () => {
    const names = core.named.map(({ name }) => name);
    core.wraps.push(await CallContext.load(context, names, core.runtime));
  });
}

function measure(metrics: SharedArrayBuffer, core: WorkerCore): void {
  const meter = new CallMeter(metrics, core.tasks.length, () => core.sharedNow());
  core.onRun = (task, tenths) => meter.ended(task, tenths);
  core.wraps.push({
    before: ({ task, slot, isMeasured }) => meter.begin(task.index, slot, isMeasured),
    responding: (slot) => meter.responding(slot),
  });
}
