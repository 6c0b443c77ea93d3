/** The workloads that a policy or a setting is judged by, and how their figures are written. */
import type { Costs } from "./costs.ts";
import { AMENDED, type Policy } from "./policies.ts";
import { latencyOf, latenessOf, type Outcome, percentile, simulate } from "./simulation.ts";
import { batches, type Group, meanUs, MIX, poisson } from "./workloads.ts";

export interface Place {
  readonly cores: number;
  readonly threads: number;
  readonly isSmt?: boolean;
  readonly costs?: Costs;
  readonly policy?: Policy;
  readonly estimateFactor?: number;
  readonly seed?: number;
}

/** Three digits, and a unit that keeps them readable. */
export function duration(us: number): string {
  if (Number.isNaN(us)) return "–";
  const [value, unit] = us < 1000 ? [us, "µs"] : [us / 1000, "ms"];
  return `${digits(value)} ${unit}`;
}

export const digits = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

export function runBatches(place: Place, groups: readonly Group[], rounds: number): Outcome {
  const { cores, isSmt = false, policy = AMENDED } = place;
  return simulate({
    ...place,
    policy,
    shape: { cores, isSmt },
    workload: batches(groups, rounds),
  });
}

/** The mix at a share of what the cores used could serve. */
export function runMix(place: Place, load: number, isOneTask = false): Outcome {
  const { cores, threads, isSmt = false, policy = AMENDED } = place;
  const perUs = load * Math.min(cores, threads) / meanUs(MIX);
  // 128 cores get through these in a fifth of a second: the longest tasks are few there.
  const calls = cores >= 32 ? 50_000 : 20_000;
  const workload = poisson({ mix: MIX, perUs, calls, isOneTask });
  return simulate({ ...place, policy, shape: { cores, isSmt }, workload });
}

/** Lateness of one part of the mix; with one task for all, parts are told apart by service time. */
export function lateness(outcome: Outcome, part: number, share: number): number {
  const { serviceUs } = MIX[part]!;
  const calls = outcome.measured.filter((call) => call.serviceUs === serviceUs);
  return percentile(calls.map(latenessOf), share);
}

export const BATCH_WORKLOADS: readonly (readonly [string, readonly Group[], number])[] = [
  ["void × 1", [{ count: 1, serviceUs: 0 }], 50],
  ["void × 100", [{ count: 100, serviceUs: 0 }], 20],
  ["void × 1000", [{ count: 1000, serviceUs: 0 }], 5],
  ["64 × 10 µs", [{ count: 64, serviceUs: 10 }], 20],
  ["1000 × 50 µs", [{ count: 1000, serviceUs: 50 }], 3],
  ["10,000 × 20 µs", [{ count: 10_000, serviceUs: 20 }], 1],
  ["8 × 5 ms", [{ count: 8, serviceUs: 5000 }], 5],
];

export const BESIDE_LONG: readonly Group[] = [
  { count: 1, serviceUs: 200_000 },
  { count: 1000, serviceUs: 0 },
];

export const SUITE_HEADER: readonly string[] = [
  "void × 1000",
  "64 × 10 µs",
  "1000 × 50 µs",
  "10,000 × 20 µs",
  "8 × 5 ms",
  "1000 micro beside 200 ms",
  "mix 50 %: 5 µs p50 / p99",
  "mix 90 %: 5 µs p50 / p99",
  "mix 90 %: 200 µs p99",
  "wakes per call, mix 50 %",
  "cores spinning, mix 50 %",
];

/** One row of figures for a policy at a place. */
export function suiteRow(place: Place): string[] {
  const time = (index: number) => {
    const [, groups, rounds] = BATCH_WORKLOADS[index]!;
    return duration(runBatches(place, groups, rounds).roundMean);
  };
  const beside = runBatches(place, BESIDE_LONG, 2).measured.filter(({ task }) => task === 1);
  const half = runMix(place, 0.5);
  const full = runMix(place, 0.9);
  const pair = (outcome: Outcome) =>
    `${duration(lateness(outcome, 0, 0.5))} / ${duration(lateness(outcome, 0, 0.99))}`;
  return [
    ...[2, 3, 4, 5, 6].map(time),
    duration(Math.max(...beside.map(latencyOf))),
    pair(half),
    pair(full),
    duration(lateness(full, 1, 0.99)),
    half.wakesPerCall.toFixed(2),
    half.spinCores.toFixed(1),
  ];
}
