/** The tables of docs/benchmarks/concurrency.md. */
import type { Measurement } from "../harness/schema.ts";
import { formatBytes } from "../harness/units.ts";
import * as concurrency from "../scenarios/concurrency-cases.ts";
import * as page from "./page.ts";

const SCENARIO = "concurrency";
const results = () => page.resultsOf(SCENARIO, page.WITH_NATIVE);

function textOf(found: Measurement | undefined): string {
  if (found === undefined) return "–";
  const { p50, unit } = found;
  if (unit === "requests") return String(p50);
  return unit === "bytes" ? formatBytes(p50) : page.figure(p50);
}

/** A row for each contender that has a figure or the reason that there is none; and why, or that some requests failed. */
function tasks(
  of: concurrency.ConcurrencyTable,
  size: number,
  heads: Readonly<Record<string, string>>,
): string {
  const [wall, failed] = [
    concurrency.caseOf(of, concurrency.WALL),
    concurrency.caseOf(of, concurrency.FAILED),
  ];
  const rows: string[][] = [];
  const gaps: string[] = [];
  for (const result of results()) {
    const { measurements, failures } = result;
    const own = [...measurements, ...failures]
      .filter((each) => each.case === wall && each.size === size);
    for (const contender of new Set(own.map((each) => each.contender))) {
      const cells = Object.keys(heads).map((name) =>
        textOf(page.measurementOf(result, contender, concurrency.caseOf(of, name), size))
      );
      rows.push([page.labelOf(result, contender), ...cells]);
    }
    for (const { contender, case: name, size: of, reason } of failures) {
      if (of !== size || (name !== wall && name !== failed)) continue;
      gaps.push(`- ${page.labelOf(result, contender)}, ${name}: ${reason}.`);
    }
  }
  return page.table([`${size} tasks`, ...Object.values(heads)], rows) + page.after(gaps);
}

const WAITING_HEADS = {
  [concurrency.WALL]: `${concurrency.WALL}, s`,
  [concurrency.PEAK]: `${concurrency.PEAK}, MiB`,
  [concurrency.PER_TASK]: concurrency.PER_TASK,
  [concurrency.FAILED]: concurrency.FAILED,
  [concurrency.START]: `${concurrency.START}, ms`,
};
const COMPUTING_HEADS = {
  [concurrency.WALL]: `${concurrency.WALL}, s`,
  [concurrency.PROCESSOR]: `${concurrency.PROCESSOR}, % of a core`,
  [concurrency.FAILED]: concurrency.FAILED,
};

/** heddle's figure over that of plain async on the same runtime. */
const against = (
  label: string,
  of: concurrency.ConcurrencyTable,
  name: string,
  size: number,
): string[] =>
  page.byRuntime(`${label}: ${name}`, (runtime) => {
    if (!page.hasResult(runtime, SCENARIO)) return "–";
    const result = page.resultOf(runtime, SCENARIO);
    const ours = concurrency.heddleWith(result.machine.cores);
    return page.figure(
      page.measurementOf(result, ours, concurrency.caseOf(of, name), size)?.ratioToBaseline,
    );
  });

const overview = (): string =>
  page.table([`heddle ÷ ${concurrency.PLAIN}`, ...page.TITLES], [
    ...concurrency.TASK_COUNTS.flatMap((size) =>
      [concurrency.WALL, concurrency.PEAK].map((name) =>
        against(`${size} tasks`, concurrency.WAITING, name, size)
      )
    ),
    ...[concurrency.WALL, concurrency.PROCESSOR].map((name) =>
      against(concurrency.COMPUTING, concurrency.COMPUTING, name, concurrency.COMPUTING_TASKS)
    ),
  ]);

const sources = (): string =>
  results().map((result) => {
    const tools = ["Go", "Python"].filter((name) => name in result.versions)
      .map((name) => ` ${name} ${result.versions[name]}.`);
    return `- ${page.title(result.runtime)}: ${page.sourceOf(result)}${tools.join("")}`;
  }).join("\n");

/** By name of the table. */
export const CONCURRENCY_TABLES: page.Tables = {
  "overview": overview,
  ...Object.fromEntries(
    concurrency.TASK_COUNTS.map((
      size,
    ) => [`${size} tasks`, () => tasks(concurrency.WAITING, size, WAITING_HEADS)]),
  ),
  "computing": () => tasks(concurrency.COMPUTING, concurrency.COMPUTING_TASKS, COMPUTING_HEADS),
  "sources": sources,
};
