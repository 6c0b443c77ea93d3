/** Scenarios on Bun: `bun benchmarks/bun.ts SCENARIO …`. */
import process from "node:process";
import { launch } from "./launch.ts";

await launch({
  name: "bun",
  command: [process.execPath],
  loopback: () => import("./contenders/loopback-own.ts"),
  messages: "startThread",
  cloneLacks: { "Error with cause": "drops the cause on Bun" },
  unable: { workerpool: "workerpool 10.0.3 never answers on Bun" },
});
