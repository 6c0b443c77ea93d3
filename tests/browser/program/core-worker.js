/** A worker of `heddle/core` that a bundler bundles with its tasks. */
import { serve } from "heddle/core/worker";
import * as tasks from "./tasks.js";

serve(tasks);
