import { scriptPrograms } from "../concurrency/programs.ts";
import { runConcurrency } from "../scenarios/concurrency.ts";

await runConcurrency(scriptPrograms([process.execPath, "run", "-A", "--quiet"]));
