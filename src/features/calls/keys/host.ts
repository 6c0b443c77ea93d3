/** Calls that belong to a worker: by their key (`affinity`), and one for each worker (`pool.broadcast`). */
import { createBroadcastProxy } from "./broadcast-proxy.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { PinnedCalls } from "./pinned-calls.ts";
import { createBroadcasts } from "./parts.ts";
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
          createBroadcastProxy(
            spec,
            { broadcasts: core.part(createBroadcasts) },
            core.entry,
            isKnown,
            pool,
          ),
      ),
  },

  provides: { pinned: (options) => new PinnedCalls(options) },
};
