/** The option `mapError`: other reasons for which calls reject. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import { invalid, show } from "../../../option-checks.ts";
import { withMappedReasons } from "./mapped-reasons.ts";

type MapError = (reason: unknown) => unknown;

export const reasons: HostFeature = {
  name: "reasons",

  options: {
    mapError: (value, to) => {
      if (typeof value !== "function") throw invalid("mapError", "a function", show(value));
      to.mapError = value as MapError;
      to.wrapEntry = (entry) => withMappedReasons(entry, value as MapError);
    },
  },
};
