/** One task lies in the bundle, one in a module of its own beside it. Workers load the bundle too: hence `isMain`. */
import { createPool, isMain } from "heddle";
import { square } from "./square.mjs";

async function run() {
  const own = createPool({ threads: 1 })({ square });
  const other = createPool({ threads: 1 })("./tasks.mjs"); // relative to this file, or to the bundle
  console.log(await own.call.square(6), await other.call.shout("heddle"));
  await Promise.all([own.shutdown(), other.shutdown()]);
}

if (isMain) void run();
