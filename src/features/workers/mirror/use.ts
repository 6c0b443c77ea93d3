/** The feature `mirror` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { mirror as added } from "./host.ts";

/** Pools that share no memory with their workers, as in pages that may not: the option `transport`. For `createPool({ use: [mirror()] })` of `heddle/core`. */
export function mirror(): Feature<"mirror"> {
  return feature(added);
}
