import { runTokio } from "../scenarios/tokio.ts";

await runTokio();
