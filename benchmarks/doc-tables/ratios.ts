/** Figures that pages and sentences make of results: lookups that must succeed, and sums and differences of medians. */
import type { Measurement } from "../harness/schema.ts";
import { caseOf, type ColdKind, FIRST_ANSWER, IMPORT } from "../scenarios/cold-cases.ts";
import { CPU_OF, NO_CALLS } from "../scenarios/sporadic-cases.ts";
import { measurementOf, resultOf } from "./page.ts";

/** The measurement at this place. Throws if there is none. */
export function found(
  runtime: string,
  scenario: string,
  contender: string,
  name: string,
  size: number,
): Measurement {
  const measurement = measurementOf(resultOf(runtime, scenario), contender, name, size);
  if (measurement === undefined) {
    throw new Error(`${runtime} ${scenario} has no ${contender}, ${name}, ${size}`);
  }
  return measurement;
}

export const p50 = (...place: Parameters<typeof found>): number => found(...place).p50;

/** Milliseconds of the import and until the first answer after it. */
export const startOf = (runtime: string, contender: string, kind: ColdKind): number =>
  p50(runtime, "cold", contender, IMPORT, 1) +
  p50(runtime, "cold", contender, caseOf(FIRST_ANSWER, kind), 1);

/** Microseconds of processor time of a call at a pace of `sporadic`, without those that the arrivals take. */
export const cpuOfCalls = (
  runtime: string,
  contender: string,
  pace: string,
  size: number,
): number =>
  p50(runtime, "sporadic", contender, CPU_OF[pace]!, size) -
  p50(runtime, "sporadic", NO_CALLS, CPU_OF[pace]!, size);
