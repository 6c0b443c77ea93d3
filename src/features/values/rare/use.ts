/** The feature `values` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { values as added } from "./host.ts";

/** Values that ordinary payloads do not have: class instances, RegExp, `transfer()`, `borrow()`, shared objects, and the paths of what cannot be cloned. For `createPool({ use: [values()] })` of `heddle/core`. */
export function values(): Feature<"values"> {
  return feature(added);
}
