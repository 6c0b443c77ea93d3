/** The feature `stealing` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { stealing as added } from "./host.ts";

/** Calls that wait behind others move to idle workers, in pools of several workers. For `createPool({ use: [stealing()] })` of `heddle/core`. */
export function stealing(): Feature<"stealing"> {
  return feature(added);
}
