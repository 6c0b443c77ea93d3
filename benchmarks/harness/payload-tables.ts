/** Tables of the payload scenarios: a row for every combination, also for those without a figure. */
import { table } from "./markdown-table.ts";
import type { Failure, Measurement, ScenarioResult } from "./schema.ts";
import { formatBytes } from "./units.ts";

/** A row is a measurement or the reason why there is none. */
type Row = Measurement | (Failure & { readonly case: string; readonly size: number });

interface Column {
  readonly header: string;
  readonly cell: (measurement: Measurement) => string;
}

const percentiles: readonly Column[] = (["p50", "p75", "p99", "mean", "min"] as const).map(
  (figure) => ({ header: `${figure} µs`, cell: (measurement) => String(measurement[figure]) }),
);

const perCall: Column = { header: "µs per call", cell: ({ perCall }) => String(perCall ?? "–") };

const throughput: Column = {
  header: "GB/s one way",
  cell: ({ gigabytesPerSecond }) => String(gigabytesPerSecond ?? "–"),
};

const timesBaseline = (baseline: string): Column => ({
  header: `× ${baseline}`,
  cell: ({ ratioToBaseline }) => ratioToBaseline?.toPrecision(3) ?? "–",
});

const note = (baseline: string): string[] => [
  "",
  `× ${baseline}: p50 against that of ${baseline} at the same row; less than 1 is faster.`,
];

export function typesTable(result: ScenarioResult): string[] {
  const columns = [...percentiles, perCall, timesBaseline("postMessage")];
  return [
    ...payloadTable(result, ["payload", "contender", "batch"], columns, ({ size }) => [`${size}`]),
    ...note("postMessage"),
  ];
}

export function payloadGrowthTable(result: ScenarioResult): string[] {
  const columns = [...percentiles, perCall, throughput, timesBaseline("postMessage")];
  return [
    ...payloadTable(
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
  const columns = [...percentiles, timesBaseline("structuredClone")];
  return [
    ...payloadTable(result, ["payload", "contender"], columns, () => []),
    ...note("structuredClone"),
  ];
}

function payloadTable(
  result: ScenarioResult,
  keys: readonly string[],
  columns: readonly Column[],
  sizeCells: (row: Row) => string[],
): string[] {
  const rows = sortedRows(result).map((row) => [
    row.case,
    row.contender,
    ...sizeCells(row),
    ...("reason" in row
      ? columns.map((_, index) => index === 0 ? reasonOf(row) : "")
      : columns.map(({ cell }) => cell(row))),
  ]);
  return table([...keys, ...columns.map(({ header }) => header)], rows);
}

const reasonOf = ({ reason, isSkipped }: Failure): string =>
  `${isSkipped ? "left out" : "FAILED"}: ${reason}`;

/** By payload in the order they were tried, then size; the fastest first, those without figure last. */
function sortedRows({ cases = [], measurements, failures }: ScenarioResult): Row[] {
  const rows: Row[] = [...measurements, ...failures.filter(isRow)];
  const speed = (row: Row) => "reason" in row ? Infinity : row.p50;
  return rows.sort((a, b) =>
    cases.indexOf(a.case) - cases.indexOf(b.case) || a.size - b.size ||
    compare(speed(a), speed(b))
  );
}

const compare = (a: number, b: number): number => a === b ? 0 : a - b;

const isRow = (failure: Failure): failure is Extract<Row, Failure> =>
  failure.case !== undefined && failure.size !== undefined;
