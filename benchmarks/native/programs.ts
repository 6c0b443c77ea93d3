import { runNativePrograms } from "../scenarios/programs.ts";

await runNativePrograms();
