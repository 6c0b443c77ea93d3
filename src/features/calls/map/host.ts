/** `pool.map`, `forEach` and `reduce`. */
import * as deferred from "./host/deferred.ts";
import type { Mapping } from "./host/map.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { PoolAccess } from "../../../api/pool/members.ts";

/** What `map` and the others are made of. */
export function mappingOf({ pool, spec, onShutdown, keep }: PoolAccess): Mapping {
  return keep("mapping", () => {
    const mapping = new deferred.Mapping(pool, spec.options.maxThreads, spec.runtime);
    onShutdown.push(() => mapping.warnOfUnread());
    return mapping;
  });
}

export const map: HostFeature = {
  name: "map",
  needs: ["streams"],

  members: {
    map: (access) => mappingOf(access).bound.map,
    forEach: (access) => mappingOf(access).bound.forEach,
    reduce: (access) => mappingOf(access).bound.reduce,
  },
};
