import { heddleEcho } from "../contenders/heddle-echo.ts";
import { heddleJson } from "../contenders/heddle-json.ts";
import { knittingEcho } from "../contenders/knitting.ts";
import { postMessageEcho } from "../contenders/post-message-echo.ts";
import { startThread } from "../contenders/thread-messages.ts";
import { runTypes } from "../scenarios/types.ts";

await runTypes([heddleEcho, knittingEcho, heddleJson, postMessageEcho(startThread)]);
