import { heddleSpin } from "../contenders/heddle-tasks.ts";
import { noWorkers } from "../contenders/no-workers.ts";
import { rawWorker } from "../contenders/raw-worker.ts";
import { runIdleCost } from "../scenarios/idle-cost.ts";

await runIdleCost([heddleSpin, rawWorker, noWorkers]);
