import { runHttpSoak } from "../scenarios/http-soak.ts";

await runHttpSoak();
