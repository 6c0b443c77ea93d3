/** The feature `caching` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { caching as added } from "./host.ts";

/** Compiled code of workers on disk: the option `compileCache`. For `createPool({ use: [caching()] })` of `heddle/core`. */
export function caching(): Feature<"caching"> {
  return feature(added);
}
