import { heddleEcho } from "../contenders/heddle-echo.ts";
import { heddleJson } from "../contenders/heddle-json.ts";
import { heddleKnittingEcho } from "../contenders/heddle-knitting.ts";
import { knittingEcho } from "../contenders/knitting.ts";
import { lacking } from "../contenders/lacking.ts";
import { postMessageEcho } from "../contenders/post-message-echo.ts";
import { startThread } from "../contenders/thread-messages.ts";
import { runTypes } from "../scenarios/types.ts";

const postMessage = lacking(postMessageEcho(startThread), {
  "Error with cause": "drops the cause on Bun",
});
await runTypes([heddleEcho, heddleKnittingEcho, knittingEcho, heddleJson, postMessage]);
