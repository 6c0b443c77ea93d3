/** The tables of docs/benchmarks/programs.md. */
import type { Measurement, ScenarioResult } from "../harness/schema.ts";
import { PROGRAMS } from "../programs/catalogue.ts";
import * as programs from "../scenarios/programs-cases.ts";
import {
  after,
  figure,
  gapOf,
  labelOf,
  resultsOf,
  RUNTIMES,
  sourceOf,
  table,
  type Tables,
  title,
} from "./shared.ts";

const results = (): ScenarioResult[] => resultsOf("programs", ["native", ...RUNTIMES]);

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
          labelOf(result, contender) + reduced,
          figure(min),
          figure(p50),
          figure(of(programs.cpuOf(program))),
          figure(of(programs.memoryOf(program))),
          c === undefined ? "–" : `${figure(p50 / c)} ×`,
          String(of(programs.sourceOf(program)) ?? "–"),
        ],
      };
    })
  ).sort((one, other) => one.p50 - other.p50);
  const reasons = results().flatMap((result) =>
    result.failures.filter((each) => each.case === program)
      .map((each) => gapOf({ ...each, contender: labelOf(result, each.contender) }))
  );
  const head = ["best, s", "median, s", "processor time, s", "peak, MiB", "median ÷ C"];
  return table(["", ...head, "source, bytes"], rows.map(({ cells }) => cells)) + after(reasons);
}

/** Utilisation of each worker while it has parts left. */
const utilisation = (): string =>
  table(
    ["% of a core", "lowest", "median", "samples"],
    results().flatMap((result) =>
      result.measurements.filter((each) => each.case === programs.UTILISATION).map((each) => [
        labelOf(result, each.contender),
        figure(each.min),
        figure(each.p50),
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
      label: result.runtime === "native" ? `Go: ${contender}` : labelOf(result, contender),
      found: Object.keys(units).map((name) => find(result, contender, name)?.p50),
    }))
  ).filter(({ found }) => found.some((each) => each !== undefined));
  return table(
    ["", ...Object.entries(units).map(([name, unit]) => `${name}, ${unit}`)],
    rows.map(({ label, found }) => [label, ...found.map(figure)]),
  );
}

const sources = (): string =>
  results().map((result) => {
    const tools = ["C", "Rust", "Go", "Python"].filter((name) => name in result.versions)
      .map((name) => ` ${name}: ${result.versions[name]}.`);
    return `- ${title(result.runtime)}: ${sourceOf(result)}${tools.join("")}`;
  }).join("\n");

/** By name of the table. */
export const PROGRAM_TABLES: Tables = {
  ...Object.fromEntries(
    PROGRAMS.map(({ name, scales }) => [name, () => programTable(name, scales.full.size)]),
  ),
  "utilisation": utilisation,
  "costs": costs,
  "sources": sources,
};
