/** The feature `balancers` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { balancers as added } from "./host.ts";

/** The option `balancer`: named ones, and functions of the program. For `createPool({ use: [balancers()] })` of `heddle/core`. */
export function balancers(): Feature<"balancers"> {
  return feature(added);
}
