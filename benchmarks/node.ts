/** Scenarios on Node: `node benchmarks/node.ts SCENARIO …`. */
import process from "node:process";
import { launch } from "./launch.ts";

await launch({
  name: "node",
  command: [process.execPath],
  loopback: () => import("./contenders/loopback-node.ts"),
  messages: "startThread",
});
