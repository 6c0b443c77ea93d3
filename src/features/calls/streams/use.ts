/** The feature `streams` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { limits } from "../limits/use.ts";
import { streams as added } from "./host.ts";

/** Generators as tasks, iterables and streams as arguments, and events of tasks (`onEvent`, `emit`). Brings `limits()`. For `createPool({ use: [streams()] })` of `heddle/core`. */
export function streams(): Feature<"streams" | "limits"> {
  return feature(added, limits());
}
