import { heddleEcho } from "../contenders/heddle-echo.ts";
import { knittingEcho } from "../contenders/knitting.ts";
import { postMessageEcho } from "../contenders/post-message-echo.ts";
import { startThread } from "../contenders/thread-messages.ts";
import { runPayloadGrowth } from "../scenarios/payload-growth.ts";

await runPayloadGrowth([heddleEcho, knittingEcho, postMessageEcho(startThread)]);
