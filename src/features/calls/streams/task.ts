/** Tasks whose results are streams, as `task()` declares them. */
import { streamOptions } from "./host/stream-options.ts";
import type { TaskFeature } from "../../../api/tasks/feature.ts";

export const streams: TaskFeature = { name: "streams", callOptions: streamOptions };
