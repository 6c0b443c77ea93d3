/** The feature `processes` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { mirror } from "../mirror/use.ts";
import { processes as added } from "./host.ts";

/** Pools whose workers are processes: the options `workers` and `process`. Brings `mirror()`. For `createPool({ use: [processes()] })` of `heddle/core`. */
export function processes(): Feature<"processes" | "mirror"> {
  return feature(added, mirror());
}
