/** The feature `mirror` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { mirror as added } from "./host.ts";

/** Pools in pages that share no memory with workers: the option `transport`. Only for browsers. For `createPool({ use: [mirror()] })` of `heddle/core`. */
export function mirror(): Feature<"mirror"> {
  return feature(added);
}
