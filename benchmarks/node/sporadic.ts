import { ONE_WORKER_CONTENDERS } from "../contenders/one-worker-contenders.ts";
import { runSporadic } from "../scenarios/sporadic.ts";

await runSporadic(ONE_WORKER_CONTENDERS);
