import { runNats } from "../scenarios/nats.ts";

await runNats();
