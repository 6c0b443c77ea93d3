/** For pages without a bundler, and for bundlers that leave URLs as they are. By the condition `browser` of `heddle`. */
import { createPool } from "heddle";
import { exercise } from "./exercise.js";

void exercise(createPool({ threads: 2 })(new URL("./tasks.js", import.meta.url)));
