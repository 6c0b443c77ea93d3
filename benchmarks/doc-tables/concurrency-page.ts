/** The tables of docs/benchmarks/concurrency.md. */
import type { Measurement } from "../harness/schema.ts";
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
  after,
  byRuntime,
  figure,
  hasResult,
  labelOf,
  measurementOf,
  resultOf,
  resultsOf,
  sourceOf,
  table,
  type Tables,
  title,
  TITLES,
  WITH_NATIVE,
} from "./shared.ts";

const SCENARIO = "concurrency";
const results = () => resultsOf(SCENARIO, WITH_NATIVE);

function textOf(found: Measurement | undefined): string {
  if (found === undefined) return "–";
  const { p50, unit } = found;
  if (unit === "requests") return String(p50);
  return unit === "bytes" ? formatBytes(p50) : figure(p50);
}

/** A row for each contender that has a figure or the reason that there is none; and why, or that some requests failed. */
function tasks(
  of: ConcurrencyTable,
  size: number,
  heads: Readonly<Record<string, string>>,
): string {
  const [wall, failed] = [caseOf(of, WALL), caseOf(of, FAILED)];
  const rows: string[][] = [];
  const gaps: string[] = [];
  for (const result of results()) {
    const { measurements, failures } = result;
    const own = [...measurements, ...failures]
      .filter((each) => each.case === wall && each.size === size);
    for (const contender of new Set(own.map((each) => each.contender))) {
      const cells = Object.keys(heads).map((name) =>
        textOf(measurementOf(result, contender, caseOf(of, name), size))
      );
      rows.push([labelOf(result, contender), ...cells]);
    }
    for (const { contender, case: name, size: of, reason } of failures) {
      if (of !== size || (name !== wall && name !== failed)) continue;
      gaps.push(`- ${labelOf(result, contender)}, ${name}: ${reason}.`);
    }
  }
  return table([`${size} tasks`, ...Object.values(heads)], rows) + after(gaps);
}

const WAITING_HEADS = {
  [WALL]: `${WALL}, s`,
  [PEAK]: `${PEAK}, MiB`,
  [PER_TASK]: PER_TASK,
  [FAILED]: FAILED,
  [START]: `${START}, ms`,
};
const COMPUTING_HEADS = {
  [WALL]: `${WALL}, s`,
  [PROCESSOR]: `${PROCESSOR}, % of a core`,
  [FAILED]: FAILED,
};

/** heddle's figure over that of plain async on the same runtime. */
const against = (label: string, of: ConcurrencyTable, name: string, size: number): string[] =>
  byRuntime(`${label}: ${name}`, (runtime) => {
    if (!hasResult(runtime, SCENARIO)) return "–";
    const result = resultOf(runtime, SCENARIO);
    const ours = heddleWith(result.machine.cores);
    return figure(measurementOf(result, ours, caseOf(of, name), size)?.ratioToBaseline);
  });

const overview = (): string =>
  table([`heddle ÷ ${PLAIN}`, ...TITLES], [
    ...TASK_COUNTS.flatMap((size) =>
      [WALL, PEAK].map((name) => against(`${size} tasks`, WAITING, name, size))
    ),
    ...[WALL, PROCESSOR].map((name) => against(COMPUTING, COMPUTING, name, COMPUTING_TASKS)),
  ]);

const sources = (): string =>
  results().map((result) => {
    const tools = ["Go", "Python"].filter((name) => name in result.versions)
      .map((name) => ` ${name} ${result.versions[name]}.`);
    return `- ${title(result.runtime)}: ${sourceOf(result)}${tools.join("")}`;
  }).join("\n");

/** By name of the table. */
export const CONCURRENCY_TABLES: Tables = {
  "overview": overview,
  ...Object.fromEntries(
    TASK_COUNTS.map((size) => [`${size} tasks`, () => tasks(WAITING, size, WAITING_HEADS)]),
  ),
  "computing": () => tasks(COMPUTING, COMPUTING_TASKS, COMPUTING_HEADS),
  "sources": sources,
};
