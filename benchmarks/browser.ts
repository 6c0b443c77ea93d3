/** Pages of Chromium, which Node opens and times: `node benchmarks/browser.ts browser`. */
import process from "node:process";
import { launch } from "./launch.ts";

await launch({
  name: "browser",
  command: [process.execPath],
  loopback: () => import("./contenders/loopback-node.ts"),
  messages: "startThread",
});
