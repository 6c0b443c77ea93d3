/** The feature `structs` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { structs as added } from "./host.ts";

/** Tasks that declare shapes of arguments or results: `args` and `returns` of `task()`. For `createPool({ use: [structs()] })` of `heddle/core`. */
export function structs(): Feature<"structs"> {
  return feature(added);
}
