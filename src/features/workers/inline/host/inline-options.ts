/** The options `inliner` and `onUnavailable` of `createPool`: tasks that run on the host. */
import { InvalidArgumentError } from "../../../../errors.ts";
import type { InlinerLimits } from "./inline-executor.ts";
import { checkInteger, checkKeys, invalid, isRecord, show } from "../../../../option-checks.ts";

export function checkInliner(inliner: unknown): InlinerLimits | undefined {
  if (inliner === false) return undefined;
  if (inliner !== true && !isRecord(inliner)) {
    throw invalid("inliner", "a boolean or an object", show(inliner));
  }
  const given: Partial<Record<keyof InlinerLimits, unknown>> = inliner === true ? {} : inliner;
  checkKeys("inliner", given, ["position", "batchSize", "dispatchThreshold"]);
  const { position = "last", batchSize = 1, dispatchThreshold = 1 } = given;
  if (position !== "first" && position !== "last") {
    throw invalid("inliner.position", '"first" or "last"', show(position));
  }
  return {
    position,
    batchSize: checkInteger("inliner.batchSize", batchSize, 1, 2 ** 20),
    dispatchThreshold: checkInteger("inliner.dispatchThreshold", dispatchThreshold, 1, 2 ** 30),
  };
}

export function checkUnavailable(given: unknown, permission: unknown): "error" | "host" {
  if (given !== "error" && given !== "host") {
    throw invalid("onUnavailable", '"error" or "host"', show(given));
  }
  if (given === "host" && permission !== undefined && permission !== "off") {
    throw new InvalidArgumentError(
      'onUnavailable: "host" cannot be combined with permission, which limits threads but not the host.',
    );
  }
  return given;
}
