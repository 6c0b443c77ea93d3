/** The feature `objects` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { keys } from "../keys/use.ts";
import { streams } from "../streams/use.ts";
import { objects as added } from "./host.ts";

/** `pool.spawn`: objects that live in workers. Brings `streams()`, `limits()` and `keys()`. For `createPool({ use: [objects()] })` of `heddle/core`. */
export function objects(): Feature<"objects" | "keys" | "limits" | "streams"> {
  return feature(added, streams(), keys());
}
