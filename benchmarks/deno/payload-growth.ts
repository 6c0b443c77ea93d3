import { heddleEcho } from "../contenders/heddle-echo.ts";
import { knittingEcho } from "../contenders/knitting.ts";
import { postMessageEcho } from "../contenders/post-message-echo.ts";
import { startWebWorker } from "../contenders/web-worker-messages.ts";
import { runPayloadGrowth } from "../scenarios/payload-growth.ts";

await runPayloadGrowth([heddleEcho, knittingEcho, postMessageEcho(startWebWorker)]);
