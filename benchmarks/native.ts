/** Programs in other languages, which Node starts and times: `node benchmarks/native.ts SCENARIO …`. */
import process from "node:process";
import { launch } from "./launch.ts";

await launch({
  name: "native",
  command: [process.execPath],
  loopback: () => import("./contenders/loopback-node.ts"),
  messages: "startThread",
});
