/**
 * Tables of results: a row for every combination, also for those without a figure, which say why.
 */
import { table } from "./markdown-table.ts";
import type { Failure, Measurement, PairedRatio, ScenarioResult } from "./schema.ts";

/** A row is a measurement or the reason why there is none. */
export type Row = Measurement | (Failure & { readonly case: string; readonly size: number });

export type Column = readonly [header: string, cell: (measurement: Measurement) => string];

/** What the table of a scenario looks like. */
export interface TableSpec {
  /** Headers of case and contender, and of the size where it is shown. */
  readonly keys: readonly string[];
  /** How the size is written, if not as a number. */
  readonly size?: (row: Row) => string;
  readonly columns: readonly Column[];
  readonly note?: string;
}

type Ratio =
  | "ratioToFloor"
  | "ratioToBaseline"
  | "p99RatioToBaseline"
  | "ratioToReference"
  | "meanRatioToReference"
  | "ratioToIdeal";
type Figure = "p50" | "p75" | "p99" | "mean" | "min";

/** A ratio that a measurement may lack. */
export const ratio = (value: number | undefined): string => value?.toPrecision(3) ?? "–";

/** A ratio with its 95 % interval. */
export const formatPaired = (paired: PairedRatio | undefined): string => {
  if (paired === undefined) return "–";
  const [ratio, low, high] = [paired.ratio, paired.low, paired.high].map((value) =>
    String(Number(value.toPrecision(3)))
  );
  return `${ratio} (${low}–${high})`;
};

export const figures = (unit: string, ...names: readonly Figure[]): Column[] =>
  names.map((name) => [`${name} ${unit}`, (measurement) => String(measurement[name])]);

/** Where units differ from row to row. */
export const withUnits = (...names: readonly (Figure | readonly [Figure, string])[]): Column[] =>
  names.map((each) => {
    const [name, header] = typeof each === "string" ? [each, each] : each;
    return [header, (measurement) => `${measurement[name]} ${measurement.unit}`];
  });

/** A figure that a measurement may lack. */
export const optional = (header: string, key: keyof Measurement): Column => [
  header,
  (measurement) => String(measurement[key] ?? "–"),
];

export const ratios = (header: string, key: Ratio): Column => [
  header,
  (measurement) => ratio(measurement[key]),
];

export const pairedTo = (to: string): Column => [
  `p50 × ${to}`,
  ({ paired }) => formatPaired(paired),
];

export const SAMPLES: Column = optional("samples", "samples");
export const PER_CALL: Column = optional("µs per call", "perCall");
export const P999: Column = optional("p99.9 µs", "p999");

export function rowTable(result: ScenarioResult, spec: TableSpec): string[] {
  const { keys, size = ({ size }) => String(size), columns } = spec;
  const rows = sortedRows(result).map((row) => [
    row.case,
    row.contender,
    ...(keys.length > 2 ? [size(row)] : []),
    ...("reason" in row
      ? columns.map((_, index) => index === 0 ? reasonOf(row) : "")
      : columns.map(([, cell]) => cell(row))),
  ]);
  return table([...keys, ...columns.map(([header]) => header)], rows);
}

export const reasonOf = ({ reason, isSkipped }: Failure): string =>
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
