/** For bundlers with heddle's plugin, and for those that know `new Worker(new URL(…))` themselves. */
import { createPool } from "heddle";
import { exercise } from "./exercise.js";

const pool = createPool({ threads: 2 })(
  () => new Worker(new URL("./worker.js?pool", import.meta.url), { type: "module" }),
);
void exercise(pool);
