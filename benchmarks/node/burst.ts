import { heddle } from "../contenders/heddle.ts";
import { knitting } from "../contenders/knitting.ts";
import { postMessage } from "../contenders/post-message.ts";
import { runBurst } from "../scenarios/burst.ts";

await runBurst([heddle, knitting, postMessage]);
