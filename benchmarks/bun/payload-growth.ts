import { heddleEcho } from "../contenders/heddle-echo.ts";
import { postMessageEcho } from "../contenders/post-message-echo.ts";
import { startThread } from "../contenders/thread-messages.ts";
import { runPayloadGrowth } from "../scenarios/payload-growth.ts";

await runPayloadGrowth([heddleEcho, postMessageEcho(startThread)]);
