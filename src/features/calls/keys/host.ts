/** Calls that belong to a worker: by their key (`affinity`), and one for each worker (`pool.broadcast`). */
import * as deferred from "./host/deferred.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { describeValue } from "../../../codec/support/describe.ts";
import { invalid } from "../../../option-checks.ts";

function checkAffinity(affinity: unknown): string | number {
  const isKey = typeof affinity === "string" ||
    (typeof affinity === "number" && Number.isFinite(affinity));
  if (isKey) return affinity;
  throw invalid("affinity", "a string or a finite number", describeValue(affinity));
}

export const keys: HostFeature = {
  name: "keys",

  callOptions: {
    affinity: { only: "with", check: (value, to) => to.affinity = { key: checkAffinity(value) } },
  },

  members: {
    broadcast: ({ pool, spec, core, isKnown, keep }) =>
      keep(
        "broadcast",
        () =>
          deferred.createBroadcastProxy(
            spec,
            { broadcasts: core.part(deferred.createBroadcasts) },
            core.entry,
            isKnown,
            pool,
          ),
      ),
  },

  provides: { pinned: (options) => new deferred.PinnedCalls(options) },
};
