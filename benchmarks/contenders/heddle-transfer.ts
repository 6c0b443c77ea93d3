/** heddle's `transfer()`: memory that goes along with a call and comes back with its answer. */
import { createPool, transfer } from "../../dist/mod.js";
import type { EchoCalls } from "./echo-contender.ts";
import { echoThrough } from "./heddle-pool.ts";

export const echoTransferred = (buffer: ArrayBuffer): ArrayBuffer => transfer(buffer);

export function startTransferEcho(): Promise<EchoCalls> {
  const pool = createPool({ threads: 1 })({ echoTransferred });
  return echoThrough(pool, (value) => pool.call.echoTransferred(transfer(value as ArrayBuffer)));
}
