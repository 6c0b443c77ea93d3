import { nativePrograms } from "../concurrency/programs.ts";
import { runConcurrency } from "../scenarios/concurrency.ts";

const { programs, remove } = nativePrograms();
await runConcurrency(programs, remove);
