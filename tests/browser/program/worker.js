/** A worker that a bundler bundles with its tasks. */
import { serve } from "heddle/browser/worker";
import * as tasks from "./tasks.js";

serve(tasks);
