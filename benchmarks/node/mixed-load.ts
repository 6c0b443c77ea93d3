import { runMixedLoad } from "../scenarios/mixed-load.ts";

await runMixedLoad();
