import { runPrograms } from "../scenarios/programs.ts";

await runPrograms();
