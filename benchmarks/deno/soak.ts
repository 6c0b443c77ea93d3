import { runSoak } from "../scenarios/soak.ts";

await runSoak();
