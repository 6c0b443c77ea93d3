import { CONTENDED_CONTENDERS } from "../contenders/one-worker-contenders.ts";
import { runContended } from "../scenarios/contended.ts";

await runContended(CONTENDED_CONTENDERS);
