import { heddleEcho } from "../contenders/heddle-echo.ts";
import { knittingEcho } from "../contenders/knitting.ts";
import { http, websocket } from "../contenders/loopback-node.ts";
import { others } from "../contenders/pool-echoes.ts";
import { postMessageEcho } from "../contenders/post-message-echo.ts";
import { startThread } from "../contenders/thread-messages.ts";
import { runIpc } from "../scenarios/ipc.ts";

await runIpc([
  heddleEcho,
  knittingEcho,
  postMessageEcho(startThread),
  websocket,
  http,
  ...others(),
]);
