/** The feature `limits` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { limits as added } from "./host.ts";

/** Time limits and signals of calls, `abortSignal` of tasks, `hardTimeoutMs`. For `createPool({ use: [limits()] })` of `heddle/core`. */
export function limits(): Feature<"limits"> {
  return feature(added);
}
