import { COLD_CONTENDERS } from "../contenders/one-worker-contenders.ts";
import { runCold } from "../scenarios/cold.ts";

await runCold(COLD_CONTENDERS);
