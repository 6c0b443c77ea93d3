import { runFanOut } from "../scenarios/fan-out.ts";

await runFanOut();
