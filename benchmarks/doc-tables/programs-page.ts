/** The tables of docs/benchmarks/programs.md. */
import type { Measurement, ScenarioResult } from "../harness/schema.ts";
import { PROGRAMS } from "../programs/catalogue.ts";
import * as programs from "../scenarios/programs-cases.ts";
import * as page from "./page.ts";

const results = (): ScenarioResult[] => page.resultsOf("programs", ["native", ...page.RUNTIMES]);

const find = (
  result: ScenarioResult | undefined,
  contender: string,
  name: string,
): Measurement | undefined =>
  result?.measurements.find((each) => each.contender === contender && each.case === name);

/** Seconds of C for the same amount of work. */
const secondsOfC = (program: string, size: number): number | undefined => {
  const found = find(results().find(({ runtime }) => runtime === "native"), "C", program);
  return found?.size === size ? found.p50 : undefined;
};

/** A row for each language and each number of workers, the fastest first; and why others have no figure. */
function programTable(program: string, fullSize: number): string {
  const rows = results().flatMap((result) =>
    result.measurements.filter((each) => each.case === program).map((
      { contender, size, p50, min },
    ) => {
      const c = secondsOfC(program, size);
      const reduced = size === fullSize ? "" : `, ${size.toLocaleString("en")} steps`;
      const of = (name: string): number | undefined => find(result, contender, name)?.p50;
      return {
        p50,
        cells: [
          page.labelOf(result, contender) + reduced,
          page.figure(min),
          page.figure(p50),
          page.figure(of(programs.cpuOf(program))),
          page.figure(of(programs.memoryOf(program))),
          c === undefined ? "–" : `${page.figure(p50 / c)} ×`,
          String(of(programs.sourceOf(program)) ?? "–"),
        ],
      };
    })
  ).sort((one, other) => one.p50 - other.p50);
  const reasons = results().flatMap((result) =>
    result.failures.filter((each) => each.case === program)
      .map((each) => page.gapOf({ ...each, contender: page.labelOf(result, each.contender) }))
  );
  const head = ["best, s", "median, s", "processor time, s", "peak, MiB", "median ÷ C"];
  return page.table(["", ...head, "source, bytes"], rows.map(({ cells }) => cells)) +
    page.after(reasons);
}

/** Utilisation of each worker while it has parts left. */
const utilisation = (): string =>
  page.table(
    ["% of a core", "lowest", "median", "samples"],
    results().flatMap((result) =>
      result.measurements.filter((each) => each.case === programs.UTILISATION).map((each) => [
        page.labelOf(result, each.contender),
        page.figure(each.min),
        page.figure(each.p50),
        String(each.samples),
      ])
    ),
  );

/** Starting a worker, its memory, and messages to it, beside goroutines and channels. */
function costs(): string {
  const units = {
    [programs.WORKER_START]: "µs",
    [programs.WORKER_MEMORY]: "MiB",
    [programs.ROUND_TRIP]: "ns",
    [programs.ONE_WAY]: "ns",
  };
  const contenders = [
    programs.HEDDLE,
    programs.BARE_WORKER,
    programs.GOROUTINE,
    programs.BUFFERED_CHANNEL,
    programs.UNBUFFERED_CHANNEL,
  ];
  const rows = results().flatMap((result) =>
    contenders.map((contender) => ({
      label: result.runtime === "native" ? `Go: ${contender}` : page.labelOf(result, contender),
      found: Object.keys(units).map((name) => find(result, contender, name)?.p50),
    }))
  ).filter(({ found }) => found.some((each) => each !== undefined));
  return page.table(
    ["", ...Object.entries(units).map(([name, unit]) => `${name}, ${unit}`)],
    rows.map(({ label, found }) => [label, ...found.map(page.figure)]),
  );
}

const sources = (): string =>
  results().map((result) => {
    const tools = ["C", "Rust", "Go", "Python"].filter((name) => name in result.versions)
      .map((name) => ` ${name}: ${result.versions[name]}.`);
    return `- ${page.title(result.runtime)}: ${page.sourceOf(result)}${tools.join("")}`;
  }).join("\n");

/** By name of the table. */
export const PROGRAM_TABLES: page.Tables = {
  ...Object.fromEntries(
    PROGRAMS.map(({ name, scales }) => [name, () => programTable(name, scales.full.size)]),
  ),
  "utilisation": utilisation,
  "costs": costs,
  "sources": sources,
};
