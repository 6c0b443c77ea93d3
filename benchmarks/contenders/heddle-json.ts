/** The JSON route: heddle, but objects travel as text that both sides write and parse. */
import { createPool } from "../../dist/mod.js";
import type { EchoContender } from "./echo-contender.ts";
import { echoThrough } from "./heddle-pool.ts";

export const echoJson = (text: string): string => JSON.stringify(JSON.parse(text));

export const heddleJson: EchoContender = {
  name: "heddle (JSON text)",
  refuses({ family, route, fitsJson }) {
    if (route !== "copy" || family !== "object") return "the JSON route is for objects";
    return fitsJson ? undefined : "JSON cannot hold it";
  },
  start() {
    const pool = createPool({ threads: 1 })({ echoJson });
    return echoThrough(
      pool,
      async (value) => JSON.parse(await pool.call.echoJson(JSON.stringify(value))),
    );
  },
};
