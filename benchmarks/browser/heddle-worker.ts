import { serve } from "heddle/browser/worker";
import * as tasks from "./tasks.ts";

serve(tasks);
