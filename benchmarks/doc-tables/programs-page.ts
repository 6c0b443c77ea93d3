/** The tables of docs/benchmarks/programs.md. */
import type { Measurement, ScenarioResult } from "../harness/schema.ts";
import { PROGRAMS } from "../programs/catalogue.ts";
import {
  BARE_WORKER,
  BUFFERED_CHANNEL,
  cpuOf,
  GOROUTINE,
  HEDDLE,
  memoryOf,
  ONE_WAY,
  ROUND_TRIP,
  sourceOf as bytesOf,
  UNBUFFERED_CHANNEL,
  UTILISATION,
  WORKER_MEMORY,
  WORKER_START,
} from "../scenarios/programs-cases.ts";
import { figure, hasResult, resultOf, RUNTIMES, sourceOf, table, title } from "./shared.ts";

const SCENARIO = "programs";
const NATIVE = "native";
const NOT_MEASURED = "Not measured yet.";

const results = (): ScenarioResult[] =>
  [NATIVE, ...RUNTIMES].filter((runtime) => hasResult(runtime, SCENARIO))
    .map((runtime) => resultOf(runtime, SCENARIO));

const labelOf = ({ runtime }: ScenarioResult, contender: string): string =>
  runtime === NATIVE ? contender : `${title(runtime)}: ${contender}`;

const find = (
  { measurements }: ScenarioResult,
  contender: string,
  name: string,
): Measurement | undefined =>
  measurements.find((each) => each.contender === contender && each.case === name);

/** Seconds of C for the same amount of work. */
const secondsOfC = (program: string, size: number): number | undefined => {
  if (!hasResult(NATIVE, SCENARIO)) return undefined;
  const found = find(resultOf(NATIVE, SCENARIO), "C", program);
  return found?.size === size ? found.p50 : undefined;
};

/** A row for each language and each number of workers, the fastest first. */
function programTable(program: string, fullSize: number): string {
  const rows = results().flatMap((result) =>
    result.measurements.filter((each) => each.case === program).map((seconds) => {
      const { contender, size, p50, min } = seconds;
      const c = secondsOfC(program, size);
      const reduced = size === fullSize ? "" : `, ${size.toLocaleString("en")} steps`;
      return {
        p50,
        cells: [
          labelOf(result, contender) + reduced,
          figure(min),
          figure(p50),
          figure(find(result, contender, cpuOf(program))?.p50),
          figure(find(result, contender, memoryOf(program))?.p50),
          c === undefined ? "–" : `${figure(p50 / c)} ×`,
          String(find(result, contender, bytesOf(program))?.p50 ?? "–"),
        ],
      };
    })
  ).sort((one, other) => one.p50 - other.p50);
  if (rows.length === 0) return NOT_MEASURED;
  const head = ["", "best, s", "median, s", "processor time, s", "peak, MiB", "median ÷ C"];
  return table([...head, "source, bytes"], "lrrrrrr", rows.map(({ cells }) => cells)) +
    reasonsOf(program);
}

/** Why a language or a number of workers has no figure. */
function reasonsOf(program: string): string {
  const lines = results().flatMap((result) =>
    result.failures.filter((each) => each.case === program).map(({ contender, reason }) =>
      `Not measured: ${labelOf(result, contender)}: ${reason}.`
    )
  );
  return lines.length === 0 ? "" : `\n\n${[...new Set(lines)].join("\n")}`;
}

/** Utilisation of each worker while it has parts left. */
function utilisation(): string {
  const rows = results().flatMap((result) =>
    result.measurements.filter((each) => each.case === UTILISATION).map((each) => [
      labelOf(result, each.contender),
      figure(each.min),
      figure(each.p50),
      String(each.samples),
    ])
  );
  if (rows.length === 0) return NOT_MEASURED;
  return table(["% of a core", "lowest", "median", "samples"], "lrrr", rows);
}

/** Starting a worker, its memory, and messages to it, beside goroutines and channels. */
function costs(): string {
  const names = [WORKER_START, WORKER_MEMORY, ROUND_TRIP, ONE_WAY];
  const contenders = [HEDDLE, BARE_WORKER, GOROUTINE, BUFFERED_CHANNEL, UNBUFFERED_CHANNEL];
  const rows = results().flatMap((result) =>
    contenders.filter((contender) =>
      names.some((name) => find(result, contender, name) !== undefined)
    ).map((contender) => [
      result.runtime === NATIVE ? `Go: ${contender}` : labelOf(result, contender),
      ...names.map((name) => {
        const found = find(result, contender, name);
        return found === undefined ? "–" : figure(found.p50);
      }),
    ])
  );
  if (rows.length === 0) return NOT_MEASURED;
  const units = [", µs", ", MiB", ", ns", ", ns"];
  return table(["", ...names.map((name, index) => name + units[index]!)], "lrrrr", rows);
}

const source = (): string => {
  if (results().length === 0) return NOT_MEASURED;
  return results().map((result) => {
    const tools = ["C", "Rust", "Go", "Python"].flatMap((name) =>
      result.versions[name] === undefined ? [] : [` ${name}: ${result.versions[name]}.`]
    );
    return `- ${title(result.runtime)}: ${sourceOf(result)}${tools.join("")}`;
  }).join("\n");
};

/** By name of the table. */
export const PROGRAM_TABLES: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(
    PROGRAMS.map(({ name, scales }) => [name, () => programTable(name, scales.full.size)]),
  ),
  "utilisation": utilisation,
  "costs": costs,
  "sources": source,
};
