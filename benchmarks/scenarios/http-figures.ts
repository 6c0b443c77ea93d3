/** Figures of one run of a load, or why there are none. */
import type { LoadFigures } from "../http/load/figures.ts";
import { Skipped } from "../http/skipped.ts";
import type { RoundSamples } from "../harness/child.ts";
import type { RoundGap, Unit } from "../harness/schema.ts";
import { caseOf, CPU, FIGURES, type HttpFigure, MEAN, P50, P99, RATE } from "./http-cases.ts";

export type Found = RoundSamples | RoundGap;

const UNITS: Readonly<Partial<Record<HttpFigure, Unit>>> = { [RATE]: "requests/s", [CPU]: "µs" };

/** The figures of a run, or why there are none. */
export async function figuresFor(
  place: { readonly contender: string; readonly size: number },
  load: string,
  take: () => Promise<Partial<LoadFigures>>,
): Promise<Found[]> {
  try {
    const { perSecond, meanMs, p50Ms, p99Ms, cpuUs } = await take();
    const values: Readonly<Record<HttpFigure, number | undefined>> = {
      [RATE]: perSecond,
      [MEAN]: meanMs,
      [P50]: p50Ms,
      [P99]: p99Ms,
      [CPU]: cpuUs,
    };
    return FIGURES.flatMap((figure) => {
      const value = values[figure];
      if (value === undefined) return [];
      const unit = UNITS[figure] ?? "ms";
      return [{ ...place, case: caseOf(load, figure), unit, samples: [value] }];
    });
  } catch (error) {
    const reason = (error as Error).message;
    return [{ ...place, case: caseOf(load, RATE), reason, isSkipped: error instanceof Skipped }];
  }
}
