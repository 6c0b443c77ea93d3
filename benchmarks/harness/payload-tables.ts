/** Tables of the payload scenarios. */
import { pairedColumn } from "./paired-tables.ts";
import { type Column, column, ratio, rowTable } from "./row-table.ts";
import type { ScenarioResult } from "./schema.ts";
import { formatBytes } from "./units.ts";

const percentiles: readonly Column[] = (["p50", "p75", "p99", "mean", "min"] as const).map(
  (figure) => column(`${figure} µs`, (measurement) => String(measurement[figure])),
);

const perCall = column("µs per call", ({ perCall }) => String(perCall ?? "–"));

const throughput = column(
  "GB/s one way",
  ({ gigabytesPerSecond }) => String(gigabytesPerSecond ?? "–"),
);

const timesBaseline = (baseline: string): Column =>
  column(`× ${baseline}`, ({ ratioToBaseline }) => ratio(ratioToBaseline));

const note = (baseline: string): string[] => [
  "",
  `× ${baseline}: p50 against that of ${baseline} at the same row; less than 1 is faster.`,
];

export function typesTable(result: ScenarioResult): string[] {
  const columns = [...percentiles, perCall, timesBaseline("postMessage")];
  return [
    ...rowTable(result, ["payload", "contender", "batch"], columns, ({ size }) => [`${size}`]),
    ...note("postMessage"),
  ];
}

export function ipcTable(result: ScenarioResult): string[] {
  const columns = [...percentiles, perCall, timesBaseline("heddle")];
  return [
    ...rowTable(result, ["payload", "contender", "at once"], columns, ({ size }) => [`${size}`]),
    "",
    "× heddle: p50 against heddle's at the same row; more than 1 is slower.",
  ];
}

/** The Rust baseline has a result of its own, of the same shape. */
export function tokioTable(result: ScenarioResult): string[] {
  return rowTable(
    result,
    ["payload", "contender", "size"],
    [...percentiles, perCall],
    ({ size }) => [formatBytes(size)],
  );
}

export function payloadGrowthTable(result: ScenarioResult): string[] {
  const columns = [...percentiles, perCall, throughput, timesBaseline("postMessage")];
  return [
    ...rowTable(
      result,
      ["payload", "contender", "size"],
      columns,
      ({ size }) => [formatBytes(size)],
    ),
    ...note("postMessage"),
    "GB/s one way: 10^9 bytes of payload that go one way, over half the time there and back.",
  ];
}

export function codecTable(result: ScenarioResult): string[] {
  const columns = [...percentiles, pairedColumn("structuredClone")];
  return rowTable(result, ["payload", "contender"], columns, () => []);
}
