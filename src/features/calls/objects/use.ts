/** The feature `objects` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { requests } from "../requests/use.ts";
import { streams } from "../streams/use.ts";
import { objects as added } from "./host.ts";

/** `pool.spawn`: objects that live in workers. Brings `streams()`, `limits()`, `keys()` and `requests()`. For `createPool({ use: [objects()] })` of `heddle/core`. */
export function objects(): Feature<"objects" | "keys" | "limits" | "requests" | "streams"> {
  return feature(added, streams(), requests());
}
