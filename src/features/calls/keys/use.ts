/** The feature `keys` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { keys as added } from "./host.ts";

/** Calls for certain workers: the option `affinity`, and `pool.broadcast`. For `createPool({ use: [keys()] })` of `heddle/core`. */
export function keys(): Feature<"keys"> {
  return feature(added);
}
