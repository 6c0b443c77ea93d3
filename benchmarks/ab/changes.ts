/** How the new build compares with the old one: ratios of neighbours in time, which the machine slows alike. */
import { median, quantileSorted } from "simple-statistics";
import { pairedRatio } from "../harness/paired.ts";
import type { PairedRatio, RoundFigure } from "../harness/schema.ts";

export const OLD = "old";
export const NEW = "new";

/** New over old: above 1 is slower. The interval is that of the ratio of medians. */
export interface Change
  extends Pick<PairedRatio, "ratio" | "low" | "high">, Pick<RoundFigure, "case" | "size"> {
  readonly oldUs: number;
  readonly newUs: number;
  readonly p99Ratio: number;
}

/** A change is one where the whole interval lies further from 1 than this. */
const NOTABLE = 0.03;

const p99 = (samples: readonly number[]): number =>
  quantileSorted([...samples].sort((a, b) => a - b), 0.99);

/** The change of every figure that both builds have in pairs. */
export function changesOf(figures: readonly RoundFigure[]): Change[] {
  const places = new Map(figures.map((each) => [`${each.case}\n${each.size}`, each]));
  return [...places.values()].flatMap(({ case: name, size }) => {
    const [old, now] = [OLD, NEW].map((build) =>
      figures.filter((each) => each.contender === build && each.case === name && each.size === size)
    ) as [RoundFigure[], RoundFigure[]];
    const paired = pairedRatio(now, OLD, old);
    if (paired === undefined) return [];
    const { ratio, low, high } = paired;
    const [olds, news] = [old, now].map((each) => each.flatMap(({ samples }) => samples));
    const p99Ratio = p99(news!) / p99(olds!);
    return [{
      case: name,
      size,
      oldUs: median(olds!),
      newUs: median(news!),
      ratio,
      low,
      high,
      p99Ratio,
    }];
  });
}

export function verdictOf({ low, high }: Pick<Change, "low" | "high">): string {
  if (low > 1 + NOTABLE) return "slower";
  return high < 1 - NOTABLE ? "quicker" : "";
}
