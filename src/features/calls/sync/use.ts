/** The feature `sync` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { requests } from "../requests/use.ts";
import { sync as added } from "./host.ts";

/** `pool.sync`: calls that block the host. Brings `requests()`, `keys()` and `limits()`. For `createPool({ use: [sync()] })` of `heddle/core`. */
export function sync(): Feature<"sync" | "limits" | "keys" | "requests"> {
  return feature(added, requests());
}
