import { heddleSpin } from "../contenders/heddle-tasks.ts";
import { knittingSpin } from "../contenders/knitting.ts";
import { rawWorker } from "../contenders/raw-worker.ts";
import { runLateness } from "../scenarios/lateness.ts";

await runLateness([heddleSpin, knittingSpin, rawWorker]);
