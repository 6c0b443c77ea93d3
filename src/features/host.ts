/** The features of a host: one line each. Without its line and its folder, everything else works as before. */
import { balancers } from "./workers/balancers/host.ts";
import { caching } from "./workers/caching/host.ts";
import { inline } from "./workers/inline/host.ts";
import { keys } from "./calls/keys/host.ts";
import { limits } from "./calls/limits/host.ts";
import { map } from "./calls/map/host.ts";
import { mirror } from "./workers/mirror/host.ts";
import { objects } from "./calls/objects/host.ts";
import { observe } from "./watching/observe/host.ts";
import { processes } from "./workers/processes/host.ts";
import { profile } from "./watching/profile/host.ts";
import { queue } from "./calls/queue/host.ts";
import { reasons } from "./calls/reasons/host.ts";
import { requests } from "./calls/requests/host.ts";
import { rights } from "./workers/rights/host.ts";
import { scaling } from "./workers/scaling/host.ts";
import { scopes } from "./calls/scopes/host.ts";
import { stealing } from "./workers/stealing/host.ts";
import { streams } from "./calls/streams/host.ts";
import { structs } from "./values/structs/host.ts";
import { sync } from "./calls/sync/host.ts";
import { values } from "./values/rare/host.ts";
import type { HostFeature } from "../api/pool/feature.ts";

export const hostFeatures: readonly HostFeature[] = [
  values,
  structs,
  streams,
  limits,
  scaling,
  queue,
  keys,
  stealing,
  balancers,
  inline,
  rights,
  observe,
  profile,
  requests,
  reasons,
  map,
  scopes,
  sync,
  objects,
  mirror,
  processes,
  caching,
];
