/** The process of `shared`: one, in which all contenders take turns. */
import { addRatioToBaseline, addRatioToReference } from "../harness/derived.ts";
import type { Measurement } from "../harness/schema.ts";
import { languageVersions } from "../programs/languages.ts";
import { CALL, CONTENDERS, RING } from "../scenarios/shared-cases.ts";
import type { Contender } from "./scenario.ts";
import { crateVersions, hasCargo } from "./tokio.ts";

export const sharedContenders = (): readonly Contender[] => [
  { name: "all in turn", variantOf: CONTENDERS.join(", "), args: [] },
];

/** Channels against the raw ring, maps against a call. */
export const finishShared = (measurements: Measurement[]): Measurement[] =>
  addRatioToReference(
    addRatioToBaseline(measurements, RING),
    (candidate, of) =>
      candidate.contender === CALL && candidate.case === of.case && candidate.size === of.size,
  );

/** Versions of Go and Rust, where they are measured. */
export function sharedVersions(): Readonly<Record<string, string>> {
  const { Go, Rust } = languageVersions();
  return {
    ...(Go === undefined ? {} : { Go }),
    ...(hasCargo() ? { ...(Rust === undefined ? {} : { Rust }), ...crateVersions() } : {}),
  };
}
