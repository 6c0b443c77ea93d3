import { runThreadSweep } from "../scenarios/thread-sweep.ts";

await runThreadSweep();
