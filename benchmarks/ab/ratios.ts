/**
 * How a build compares with another that was measured in turn with it. Rounds are pairs of processes that ran one
 * after the other, so what slows the machine down for a while slows both: ratios are taken within each round.
 */
import { mean, median, quantileSorted } from "simple-statistics";
import { bootstrapInterval, type Interval } from "../harness/bootstrap.ts";
import type { RoundFigure } from "../harness/schema.ts";

/** Figures of both builds, of the same cases in the same order. */
export interface PairedRound {
  readonly old: readonly RoundFigure[];
  readonly new: readonly RoundFigure[];
}

/** New over old: above 1 is slower. The interval is that of `ratio`. */
export interface BuildChange extends Interval, Pick<RoundFigure, "case" | "size" | "calls"> {
  /** Medians over rounds of each round's p50, microseconds. */
  readonly oldUs: number;
  readonly newUs: number;
  /** Medians over rounds of each round's ratio: of p50, of the mean, of p99. */
  readonly ratio: number;
  readonly meanRatio: number;
  readonly p99Ratio: number;
}

export type Verdict = "slower" | "quicker" | "";

/** A change is one where the whole interval lies further from 1 than this. */
const NOTABLE = 0.03;

type Statistic = (samples: number[]) => number;
const p50: Statistic = (samples) => quantileSorted(samples, 0.5);
const p99: Statistic = (samples) => quantileSorted(samples, 0.99);

/** The change of every case. */
export function compareBuilds(rounds: readonly PairedRound[]): BuildChange[] {
  return rounds[0]!.new.map(({ case: name, size, calls }, index) => {
    const olds = rounds.map((round) => [...round.old[index]!.samples]);
    const news = rounds.map((round) => [...round.new[index]!.samples]);
    const ratiosOf = (statistic: Statistic): number[] =>
      news.map((samples, round) => statistic(samples) / statistic(olds[round]!));
    const ratios = ratiosOf(p50);
    return {
      case: name,
      size,
      ...(calls === undefined ? {} : { calls }),
      oldUs: median(olds.map(p50)),
      newUs: median(news.map(p50)),
      ratio: median(ratios),
      ...bootstrapInterval((draw) => median(ratios.map(() => draw(ratios)))),
      meanRatio: median(ratiosOf(mean)),
      p99Ratio: median(ratiosOf(p99)),
    };
  });
}

export function verdictOf({ low, high }: Interval): Verdict {
  if (low > 1 + NOTABLE) return "slower";
  return high < 1 - NOTABLE ? "quicker" : "";
}
