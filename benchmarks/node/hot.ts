import { COLD_CONTENDERS } from "../contenders/one-worker-contenders.ts";
import { runHot } from "../scenarios/hot.ts";

await runHot(COLD_CONTENDERS);
