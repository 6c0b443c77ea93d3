import { floor } from "../contenders/floor.ts";
import { heddle } from "../contenders/heddle.ts";
import { knitting } from "../contenders/knitting.ts";
import { piscina } from "../contenders/piscina.ts";
import { postMessage } from "../contenders/post-message.ts";
import { runLatency } from "../scenarios/latency.ts";

await runLatency([heddle, knitting, floor, postMessage, piscina]);
