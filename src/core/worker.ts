/** A worker that loads the features of its pool when it starts. */
import { Promise } from "../builtins.ts";
import { processes } from "../features/workers/processes/worker.ts";
import type { WorkerStart } from "../protocol/start-data.ts";
import { serve as serveKernel } from "../worker/entry.ts";
import { useInWorker, type WorkerFeature } from "../worker/feature.ts";
import type { Serve } from "../worker/site.ts";

/** In the order in which they are attached, that of `features/worker.ts`. */
const LOADERS: Readonly<Record<string, () => Promise<WorkerFeature>>> = {
  values: async () => (await import("../features/values/rare/worker.ts")).values,
  structs: async () => (await import("../features/values/structs/worker.ts")).structs,
  limits: async () => (await import("../features/calls/limits/worker.ts")).limits,
  streams: async () => (await import("../features/calls/streams/worker.ts")).streams,
  scaling: async () => (await import("../features/workers/scaling/worker.ts")).scaling,
  observe: async () => (await import("../features/watching/observe/worker.ts")).observe,
  profile: async () => (await import("../features/watching/profile/worker.ts")).profile,
  requests: async () => (await import("../features/calls/requests/worker.ts")).requests,
  map: async () => (await import("../features/calls/map/worker.ts")).map,
  objects: async () => (await import("../features/calls/objects/worker.ts")).objects,
  mirror: async () => (await import("../features/workers/mirror/worker.ts")).mirror,
  processes: () => Promise.resolve(processes), // it is there before the start data is
  caching: async () => (await import("../features/workers/caching/worker.ts")).caching,
};

/** The names of features with a worker's side. */
export const loaded: readonly string[] = Object.keys(LOADERS);

/** Serves a worker once its features are there. Messages wait meanwhile. Without any, it begins at once. */
export const serve: Serve = (site) => {
  const waiting: unknown[] = [];
  let receive: ((message: unknown) => void) | undefined;
  const begin = (): void => {
    receive = serveKernel(site);
    for (const message of waiting) receive(message);
  };
  return (message) => {
    if (receive !== undefined) return receive(message);
    if (waiting.push(message) > 1) return;
    const { uses } = message as WorkerStart;
    const names = loaded.filter((name) => uses?.has(name) !== false);
    if (names.length === 0) return begin();
    Promise.all(names.map((name) => LOADERS[name]!())).then((features) => {
      useInWorker(features);
      begin();
    }).catch(site.crash);
  };
};
