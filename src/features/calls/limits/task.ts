/** Time limits of tasks, as `task()` declares them. */
import { limitOptions } from "./host/limit-options.ts";
import type { TaskFeature } from "../../../api/tasks/feature.ts";

export const limits: TaskFeature = { name: "limits", callOptions: limitOptions };
