/** Workers that are processes: the worker's side. */
import type { WorkerFeature } from "../../../worker/feature.ts";

export const processes: WorkerFeature = {
  name: "processes",

  loadServing: async () => (await import("./worker/serve-process.ts")).serveProcess,
};
