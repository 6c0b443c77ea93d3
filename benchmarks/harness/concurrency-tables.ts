/** The tables of `concurrency`: a row for each contender and number of tasks. */
import {
  caseOf,
  COMPUTING,
  type ConcurrencyTable,
  FAILED,
  FIGURES_OF,
  PER_TASK,
  PLAIN,
  START,
  WAITING,
  WALL,
} from "../scenarios/concurrency-cases.ts";
import { table } from "./markdown-table.ts";
import { ratio } from "./row-table.ts";
import type { Failure, Measurement, ScenarioResult } from "./schema.ts";
import { formatBytes } from "./units.ts";

type Found = ScenarioResult["measurements"];

/** Figures of a contender with a number of tasks; a failure instead if there are none. */
interface Row {
  readonly contender: string;
  readonly size: number;
  readonly figure: (name: string) => Measurement | undefined;
  readonly failure?: Failure;
}

/** By number of tasks, the fastest first, and then those without figures. */
function rowsOf({ measurements, failures }: ScenarioResult, of: ConcurrencyTable): Row[] {
  const wall = caseOf(of, WALL);
  const measured = [...measurements].filter((each) => each.case === wall)
    .sort((a, b) => a.p50 - b.p50);
  const rows = [...measured, ...failures.filter((each) => each.case === wall)];
  return rows.map((row) => ({
    contender: row.contender,
    size: row.size ?? 0,
    figure: (name: string) => find(measurements, row.contender, caseOf(of, name), row.size),
    ...("reason" in row ? { failure: row } : {}),
  })).sort((a, b) => a.size - b.size);
}

const find = (
  measurements: Found,
  contender: string,
  name: string,
  size: number | undefined,
): Measurement | undefined =>
  measurements.find((each) =>
    each.contender === contender && each.case === name && each.size === size
  );

function textOf(figure: Measurement | undefined): string {
  if (figure === undefined) return "–";
  const { p50, unit } = figure;
  if (unit === "bytes") return formatBytes(p50);
  return unit === "requests" ? String(p50) : `${p50} ${unit}`;
}

/** Figures that are compared with plain async. */
const isCompared = (name: string): boolean => ![FAILED, PER_TASK, START].includes(name);

function tableOf(result: ScenarioResult, of: ConcurrencyTable): string[] {
  const names = FIGURES_OF[of];
  const header = names.flatMap((name) => isCompared(name) ? [name, `× ${PLAIN}`] : [name]);
  const rows = rowsOf(result, of).map(({ contender, size, figure, failure }) => [
    String(size),
    contender,
    ...(failure === undefined
      ? names.flatMap((name) => {
        const text = textOf(figure(name));
        return isCompared(name) ? [text, ratio(figure(name)?.ratioToBaseline)] : [text];
      })
      : [`${failure.isSkipped ? "left out" : "FAILED"}: ${failure.reason}`]),
  ]);
  return table(
    ["tasks", "contender", ...header],
    rows.map((row) => [...row, ...header.slice(row.length - 2).map(() => "")]),
  );
}

export function concurrencyTable(result: ScenarioResult): string[] {
  const failed = result.failures.filter(({ case: name }) => name?.endsWith(FAILED));
  return [
    ...tableOf(result, WAITING),
    "",
    "Tasks that compute for 10 ms after each response:",
    "",
    ...tableOf(result, COMPUTING),
    "",
    "All tasks at once, five requests each. Memory per task: the peak less the peak before the first task.",
    ...failed.map(({ contender, size, reason }) => `\n${contender}, ${size} tasks: ${reason}`),
  ];
}
