/** The feature `inline` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { inline as added } from "./host.ts";

/** Tasks on the thread of the host: the options `inliner` and `onUnavailable`. For `createPool({ use: [inline()] })` of `heddle/core`. */
export function inline(): Feature<"inline"> {
  return feature(added);
}
