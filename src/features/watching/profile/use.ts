/** The feature `profile` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { profile as added } from "./host.ts";

/** CPU profiles of workers: `pool.profile()`. For `createPool({ use: [profile()] })` of `heddle/core`. */
export function profile(): Feature<"profile"> {
  return feature(added);
}
