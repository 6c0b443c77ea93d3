/** The tables of docs/benchmarks/concurrency.md. */
import type { Measurement, ScenarioResult } from "../harness/schema.ts";
import { formatBytes } from "../harness/units.ts";
import {
  caseOf,
  COMPUTING,
  COMPUTING_TASKS,
  type ConcurrencyTable,
  FAILED,
  heddleWith,
  PEAK,
  PER_TASK,
  PLAIN,
  PROCESSOR,
  START,
  TASK_COUNTS,
  WAITING,
  WALL,
} from "../scenarios/concurrency-cases.ts";
import {
  figure,
  hasResult,
  measurementOf,
  resultOf,
  RUNTIMES,
  sourceOf,
  table,
  title,
} from "./shared.ts";

const SCENARIO = "concurrency";
const NATIVE = "native";
const NOT_MEASURED = "Not measured yet.";

const results = (): ScenarioResult[] =>
  [...RUNTIMES, NATIVE].filter((runtime) => hasResult(runtime, SCENARIO))
    .map((runtime) => resultOf(runtime, SCENARIO));

/** Programs in other languages have no runtime in their label. */
const labelOf = ({ runtime }: ScenarioResult, contender: string): string =>
  runtime === NATIVE ? contender : `${title(runtime)}: ${contender}`;

function textOf(found: Measurement | undefined): string {
  if (found === undefined) return "–";
  const { p50, unit } = found;
  if (unit === "requests") return String(p50);
  return unit === "bytes" ? formatBytes(p50) : figure(p50);
}

/** Contenders of a result with a figure or the reason that there is none, with this many tasks. */
function contendersOf(result: ScenarioResult, of: ConcurrencyTable, size: number): string[] {
  const wall = caseOf(of, WALL);
  const rows = [...result.measurements, ...result.failures]
    .filter((each) => each.case === wall && each.size === size);
  return [...new Set(rows.map(({ contender }) => contender))];
}

/** A row for each contender of each result. */
const rowsOf = (of: ConcurrencyTable, size: number, names: readonly string[]): string[][] =>
  results().flatMap((result) =>
    contendersOf(result, of, size).map((contender) => [
      labelOf(result, contender),
      ...names.map((name) => textOf(measurementOf(result, contender, caseOf(of, name), size))),
    ])
  );

/** Why contenders have no figure, or that some of their requests failed. */
function gaps(of: ConcurrencyTable, size: number): string {
  const lines = results().flatMap((result) =>
    result.failures
      .filter(({ case: name }) => name === caseOf(of, WALL) || name === caseOf(of, FAILED))
      .filter((each) => each.size === size)
      .map(({ contender, case: name, reason }) =>
        `- ${labelOf(result, contender)}, ${name}: ${reason}.`
      )
  );
  return lines.length === 0 ? "" : `\n\n${lines.join("\n")}`;
}

function waiting(size: number): string {
  if (results().length === 0) return NOT_MEASURED;
  const head = [
    `${size} tasks`,
    `${WALL}, s`,
    `${PEAK}, MiB`,
    PER_TASK,
    FAILED,
    `${START}, ms`,
  ];
  const rows = rowsOf(WAITING, size, [WALL, PEAK, PER_TASK, FAILED, START]);
  return `${table(head, "lrrrrr", rows)}${gaps(WAITING, size)}`;
}

function computing(): string {
  if (results().length === 0) return NOT_MEASURED;
  const head = [`${COMPUTING_TASKS} tasks`, `${WALL}, s`, `${PROCESSOR}, % of a core`, FAILED];
  const rows = rowsOf(COMPUTING, COMPUTING_TASKS, [WALL, PROCESSOR, FAILED]);
  return `${table(head, "lrrr", rows)}${gaps(COMPUTING, COMPUTING_TASKS)}`;
}

/** heddle's figure over that of plain async on the same runtime. */
function against(of: ConcurrencyTable, name: string, size: number): string[] {
  return RUNTIMES.map((runtime) => {
    if (!hasResult(runtime, SCENARIO)) return "–";
    const result = resultOf(runtime, SCENARIO);
    const ours = heddleWith(result.machine.cores);
    return figure(measurementOf(result, ours, caseOf(of, name), size)?.ratioToBaseline);
  });
}

function overview(): string {
  if (results().length === 0) return NOT_MEASURED;
  const rows = [
    ...TASK_COUNTS.flatMap((size) => [
      [`${size} tasks: ${WALL}`, ...against(WAITING, WALL, size)],
      [`${size} tasks: ${PEAK}`, ...against(WAITING, PEAK, size)],
    ]),
    [`${COMPUTING}: ${WALL}`, ...against(COMPUTING, WALL, COMPUTING_TASKS)],
    [`${COMPUTING}: ${PROCESSOR}`, ...against(COMPUTING, PROCESSOR, COMPUTING_TASKS)],
  ];
  return table([`heddle ÷ ${PLAIN}`, ...RUNTIMES.map(title)], "lrrr", rows);
}

const source = (): string =>
  results().length === 0
    ? NOT_MEASURED
    : results().map((result) =>
      `- ${title(result.runtime)}: ${sourceOf(result)}${
        ["Go", "Python"].flatMap((name) =>
          result.versions[name] === undefined ? [] : [` ${name} ${result.versions[name]}.`]
        ).join("")
      }`
    ).join("\n");

/** By name of the table. */
export const CONCURRENCY_TABLES: Readonly<Record<string, () => string>> = {
  "overview": overview,
  ...Object.fromEntries(TASK_COUNTS.map((size) => [`${size} tasks`, () => waiting(size)])),
  "computing": computing,
  "sources": source,
};
