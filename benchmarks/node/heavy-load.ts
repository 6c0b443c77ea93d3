import { runHeavyLoad } from "../scenarios/heavy-load.ts";

await runHeavyLoad();
