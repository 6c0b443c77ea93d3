/** As `main.mjs`, for the plugins of `heddle/bundler`: the build has one entry, and the module of tasks is found by its mark. */
import { createPool, isMain } from "heddle";
import { square } from "./square.mjs";

async function run() {
  const own = createPool({ threads: 1 })({ square });
  const other = createPool({ threads: 1 })(new URL("./tasks.mjs?pool", import.meta.url));
  console.log(await own.call.square(6), await other.call.shout("heddle"));
  await Promise.all([own.shutdown(), other.shutdown()]);
}

if (isMain) void run();
