/**
 * Tables of results: a row for every combination, also for those without a figure, which say why.
 */
import { table } from "./markdown-table.ts";
import type { Failure, Measurement, ScenarioResult } from "./schema.ts";

/** A row is a measurement or the reason why there is none. */
export type Row = Measurement | (Failure & { readonly case: string; readonly size: number });

export interface Column {
  readonly header: string;
  readonly cell: (measurement: Measurement) => string;
}

export const column = (header: string, cell: Column["cell"]): Column => ({ header, cell });

/** A ratio that a measurement may lack. */
export const ratio = (value: number | undefined): string => value?.toPrecision(3) ?? "–";

/** `keys` are the headers of case, contender and what `sizeCells` adds. */
export function rowTable(
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
