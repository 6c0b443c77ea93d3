import { floor } from "../contenders/floor.ts";
import { heddle } from "../contenders/heddle.ts";
import { heddleKnitting } from "../contenders/heddle-knitting.ts";
import { knitting } from "../contenders/knitting.ts";
import { piscina } from "../contenders/piscina.ts";
import { postMessage } from "../contenders/post-message.ts";
import { runLatency } from "../scenarios/latency.ts";

await runLatency([heddle, heddleKnitting, knitting, floor, postMessage, piscina]);
