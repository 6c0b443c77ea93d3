/** The features of a worker: one line each. */
import { caching } from "./workers/caching/worker.ts";
import { limits } from "./calls/limits/worker.ts";
import { map } from "./calls/map/worker.ts";
import { mirror } from "./workers/mirror/worker.ts";
import { objects } from "./calls/objects/worker.ts";
import { observe } from "./watching/observe/worker.ts";
import { processes } from "./workers/processes/worker.ts";
import { profile } from "./watching/profile/worker.ts";
import { requests } from "./calls/requests/worker.ts";
import { scaling } from "./workers/scaling/worker.ts";
import { streams } from "./calls/streams/worker.ts";
import { structs } from "./values/structs/worker.ts";
import { values } from "./values/rare/worker.ts";
import type { WorkerFeature } from "../worker/feature.ts";

export const workerFeatures: readonly WorkerFeature[] = [
  values,
  structs,
  // Before streams: a task hears of the reason before its iterator ends.
  limits,
  streams,
  scaling,
  observe,
  profile,
  requests,
  map,
  objects,
  mirror,
  processes,
  caching,
];
