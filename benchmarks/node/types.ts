import { heddleEcho } from "../contenders/heddle-echo.ts";
import { heddleJson } from "../contenders/heddle-json.ts";
import { heddleKnittingEcho } from "../contenders/heddle-knitting.ts";
import { knittingEcho } from "../contenders/knitting.ts";
import { postMessageEcho } from "../contenders/post-message-echo.ts";
import { startThread } from "../contenders/thread-messages.ts";
import { runTypes } from "../scenarios/types.ts";

await runTypes([
  heddleEcho,
  heddleKnittingEcho,
  knittingEcho,
  heddleJson,
  postMessageEcho(startThread),
]);
