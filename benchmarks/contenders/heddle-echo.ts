/** heddle as published: any value through a pool of one worker. */
import { createPool } from "../../dist/mod.js";
import type { EchoContender } from "./echo-contender.ts";
import { echoThrough } from "./heddle-pool.ts";
import { startStructEcho } from "./heddle-struct.ts";
import { startTransferEcho } from "./heddle-transfer.ts";

export const echoValue = (value: unknown): unknown => value;

export const heddleEcho: EchoContender = {
  name: "heddle",
  refuses: () => undefined,
  start(route) {
    switch (route) {
      case "move":
        return startTransferEcho();
      case "struct":
        return startStructEcho();
      case "copy": {
        const pool = createPool({ threads: 1 })({ echoValue });
        return echoThrough(pool, pool.call.echoValue);
      }
    }
  },
};
