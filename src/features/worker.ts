/** The features of a worker: one line each. */
import { inline } from "./inline/worker.ts";
import { limits } from "./limits/worker.ts";
import { map } from "./map/worker.ts";
import { mirror } from "./mirror/worker.ts";
import { observe } from "./observe/worker.ts";
import { profile } from "./profile/worker.ts";
import { requests } from "./requests/worker.ts";
import { scaling } from "./scaling/worker.ts";
import { streams } from "./streams/worker.ts";
import { structs } from "./structs/worker.ts";
import { values } from "./values/worker.ts";
import type { WorkerFeature } from "../worker/feature.ts";

export const workerFeatures: readonly WorkerFeature[] = [
  values,
  structs,
  streams,
  limits,
  scaling,
  inline,
  observe,
  profile,
  requests,
  map,
  mirror,
];
