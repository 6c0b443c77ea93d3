/** What the tables of the docs share: results, figures, and how they are written. */
import { existsSync, readFileSync } from "node:fs";
import type { Failure, Measurement, PairedRatio, ScenarioResult } from "../harness/schema.ts";

const results = new URL("../../results/", import.meta.url);

export const RUNTIMES = ["node", "deno", "bun"] as const;
export type RuntimeName = typeof RUNTIMES[number];
/** With programs in other languages. */
export const WITH_NATIVE = [...RUNTIMES, "native"] as const;

/** Tables by their names on the page. */
export type Tables = Readonly<Record<string, () => string>>;

const read = new Map<string, ScenarioResult>();

/** A result of the reference run. */
export function resultOf(runtime: string, scenario: string): ScenarioResult {
  const name = `${runtime}/${scenario}.json`;
  let result = read.get(name);
  if (result === undefined) {
    result = JSON.parse(readFileSync(new URL(name, results), "utf8")) as ScenarioResult;
    read.set(name, result);
  }
  return result;
}

export const hasResult = (runtime: string, scenario: string): boolean =>
  existsSync(new URL(`${runtime}/${scenario}.json`, results));

/** Those of the runtimes that have one. */
export const resultsOf = (scenario: string, runtimes: readonly string[]): ScenarioResult[] =>
  runtimes.filter((runtime) => hasResult(runtime, scenario))
    .map((runtime) => resultOf(runtime, scenario));

export const NOT_MEASURED = "Not measured yet.";

/** The same tables, which say so where one of the results is missing. */
export const whenMeasured = (
  scenario: string,
  runtimes: readonly string[],
  tables: Tables,
): Tables =>
  Object.fromEntries(
    Object.entries(tables).map(([name, create]) => [
      name,
      () => runtimes.every((runtime) => hasResult(runtime, scenario)) ? create() : NOT_MEASURED,
    ]),
  );

/** The measurement of a contender at a case and size. */
export const measurementOf = (
  { measurements }: ScenarioResult,
  contender: string,
  name: string,
  size: number,
): Measurement | undefined =>
  measurements.find((each) =>
    each.contender === contender && each.case === name && each.size === size
  );

/** Where and when it was measured. */
export function sourceOf({ version, date, commit, machine, reference }: ScenarioResult): string {
  const busy = reference?.isBusy === true ? "; **the machine was busy**" : "";
  return `Version ${version}, commit ${commit}, ${date.slice(0, 10)}, ${machine.cpu}, ` +
    `${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.kernel}${busy}.`;
}

/** Three significant digits. */
export const figure = (value: number | undefined): string =>
  value === undefined ? "–" : value >= 100 ? String(Math.round(value)) : value.toPrecision(3);

type Key = "p50" | "p99" | "mean" | "min" | "perCall" | "gigabytesPerSecond";

/** A figure of a result, written; or a dash. */
export const figureOf = (
  result: ScenarioResult,
  contender: string,
  name: string,
  size: number,
  key: Key = "p50",
): string => figure(measurementOf(result, contender, name, size)?.[key]);

/** How many times as long: `of` divided by `ours`, two significant digits below a hundred. */
export function times(of: number | undefined, ours: number | undefined): string {
  if (of === undefined || ours === undefined) return "–";
  const ratio = of / ours;
  return `${ratio >= 100 ? Math.round(ratio) : Number(ratio.toPrecision(2))} ×`;
}

/** The ratio of neighbours in time, and its 95 % interval. */
export function pairedTimes({ ratio, low, high }: PairedRatio): string {
  const [middle, from, to] = [ratio, low, high].map((value) => Number(value.toPrecision(2)));
  return `${middle} ×, ${from}–${to}`;
}

export const percent = (share: number | undefined): string =>
  share === undefined ? "–" : `${(100 * share).toFixed(0)} %`;

export const title = (runtime: string): string => `${runtime[0]!.toUpperCase()}${runtime.slice(1)}`;
export const TITLES: readonly string[] = RUNTIMES.map(title);

/** Programs in other languages have no runtime in their label. */
export const labelOf = ({ runtime }: ScenarioResult, contender: string): string =>
  runtime === "native" ? contender : `${title(runtime)}: ${contender}`;

/** A row with a cell for each runtime. */
export const byRuntime = (
  label: string | readonly string[],
  cell: (runtime: RuntimeName) => string,
): string[] => [...[label].flat(), ...RUNTIMES.map(cell)];

/** Lines that follow a table, after an empty one. */
export const after = (lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n\n${[...new Set(lines)].join("\n")}`;

export const gapOf = ({ contender, reason }: Failure, part?: string): string =>
  `Not measured: ${contender}${part === undefined ? "" : `, ${part}`}: ${reason}.`;

/** The first columns are text, the others figures. Short rows are filled up. */
export const table = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns = 1,
): string =>
  [
    head,
    head.map((_, index) => index < textColumns ? "---" : "---:"),
    ...rows.map((row) => [...row, ...head.slice(row.length).map(() => "")]),
  ].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** The same under where it was measured. */
export const sourced = (result: ScenarioResult, ...parts: readonly string[]): string =>
  [sourceOf(result), ...parts].join("\n\n");
