/** For bundlers that find workers by `new Worker(new URL(…))`. */
import { createPool } from "heddle/browser";
import { exercise } from "./exercise.js";

const pool = createPool({ threads: 2 })(
  () => new Worker(new URL("./worker.js", import.meta.url), { type: "module" }),
);
void exercise(pool);
