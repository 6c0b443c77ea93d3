/** The feature `scopes` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { map } from "../map/use.ts";
import { scopes as added } from "./host.ts";

/** `pool.scope`: calls that end together. Brings `map()`, `streams()` and `limits()`. For `createPool({ use: [scopes()] })` of `heddle/core`. */
export function scopes(): Feature<"scopes" | "limits" | "streams" | "map"> {
  return feature(added, map());
}
