/** The feature `map` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { streams } from "../streams/use.ts";
import { map as added } from "./host.ts";

/** `pool.map`, `pool.forEach` and `pool.reduce`. Brings `streams()` and `limits()`. For `createPool({ use: [map()] })` of `heddle/core`. */
export function map(): Feature<"map" | "limits" | "streams"> {
  return feature(added, streams());
}
