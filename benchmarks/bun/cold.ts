import { ONE_WORKER_CONTENDERS } from "../contenders/one-worker-contenders.ts";
import { runCold } from "../scenarios/cold.ts";

await runCold(ONE_WORKER_CONTENDERS);
