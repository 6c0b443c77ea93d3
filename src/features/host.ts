/** The features of a host: one line each. Without its line and its folder, everything else works as before. */
import { balancers } from "./balancers/host.ts";
import { inline } from "./inline/host.ts";
import { keys } from "./keys/host.ts";
import { limits } from "./limits/host.ts";
import { map } from "./map/host.ts";
import { mirror } from "./mirror/host.ts";
import { observe } from "./observe/host.ts";
import { profile } from "./profile/host.ts";
import { queue } from "./queue/host.ts";
import { requests } from "./requests/host.ts";
import { scaling } from "./scaling/host.ts";
import { scopes } from "./scopes/host.ts";
import { stealing } from "./stealing/host.ts";
import { streams } from "./streams/host.ts";
import { structs } from "./structs/host.ts";
import { sync } from "./sync/host.ts";
import { values } from "./values/host.ts";
import type { HostFeature } from "../api/pool/feature.ts";

export const hostFeatures: readonly HostFeature[] = [
  values,
  structs,
  streams,
  limits,
  queue,
  keys,
  stealing,
  scaling,
  balancers,
  inline,
  observe,
  profile,
  requests,
  map,
  scopes,
  sync,
  mirror,
];
