/** The feature `observe` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { scaling } from "../../workers/scaling/use.ts";
import { observe as added } from "./host.ts";

/** What watches a pool: `pool.stats()`, events, tracing, and the options `metrics`, `debug`, `context` and `output`. Brings `scaling()`. For `createPool({ use: [observe()] })` of `heddle/core`. */
export function observe(): Feature<"observe" | "scaling"> {
  return feature(added, scaling());
}
