import { ONE_WORKER_CONTENDERS } from "../contenders/one-worker-contenders.ts";
import { runContended } from "../scenarios/contended.ts";

await runContended(ONE_WORKER_CONTENDERS);
