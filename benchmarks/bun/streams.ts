import { runStreams } from "../scenarios/streams.ts";

await runStreams();
