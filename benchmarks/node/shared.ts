import { runShared } from "../scenarios/shared.ts";

await runShared();
