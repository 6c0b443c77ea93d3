/** Scenarios on Deno: `deno run -A benchmarks/deno.ts SCENARIO …`. */
import process from "node:process";
import { launch } from "./launch.ts";

await launch({
  name: "deno",
  command: [process.execPath, "run", "-A", "--quiet"],
  loopback: () => import("./contenders/loopback-own.ts"),
  messages: "startWebWorker",
  unable: { Tinypool: "Tinypool 2.2.0 never answers on Deno" },
});
