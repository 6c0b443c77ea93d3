import { heddleStartup, piscinaStartup, rawStartup } from "../contenders/startup-contenders.ts";
import { runStartup } from "../scenarios/startup.ts";

await runStartup([heddleStartup, rawStartup, piscinaStartup]);
