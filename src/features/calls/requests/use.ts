/** The feature `requests` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { keys } from "../keys/use.ts";
import { limits } from "../limits/use.ts";
import { requests as added } from "./host.ts";

export { type Callback, callback } from "./callback-of-host.ts";
export { type Listener, listener } from "./listener-of-host.ts";

/** What tasks ask of the host: its functions (option `host`), `callback()`, and calls of their own pool (`currentPool`). Brings `keys()` and `limits()`. For `createPool({ use: [requests()] })` of `heddle/core`. */
export function requests(): Feature<"requests" | "keys" | "limits"> {
  return feature(added, keys(), limits());
}
