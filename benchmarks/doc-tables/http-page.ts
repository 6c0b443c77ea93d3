/** The tables of docs/benchmarks/http.md. */
import type { ScenarioResult } from "../harness/schema.ts";
import {
  ALL,
  byGets,
  byTool,
  caseOf,
  CLOSED,
  CLUSTER,
  CPU,
  ECHO,
  FASTIFY,
  GO,
  HASHES,
  HEAVY,
  HEDDLE_WORKERS,
  type HttpFigure,
  HYPER,
  JSON_BODY,
  LIGHT,
  loadOf,
  MEAN,
  MIXED_CONTENDERS,
  mixedLoad,
  ON_MAIN,
  ONE_THREAD,
  OPEN,
  P50,
  P99,
  RATE,
  SHORT_TASK_CONTENDERS,
  SOAK_LIGHT,
  SOAK_MEMORY,
  SOAK_RATE,
  TEXT,
} from "../scenarios/http-cases.ts";
import { figure, hasResult, resultOf, RUNTIMES, sourceOf, table, times, title } from "./shared.ts";

const SERVERS = [ONE_THREAD, HEDDLE_WORKERS, CLUSTER, FASTIFY, GO, HYPER] as const;
const TOOLS = ["wrk", "autocannon"] as const;
const NOT_MEASURED = "Not measured yet.";

const resultsOf = (scenario: string): ScenarioResult[] =>
  [...RUNTIMES, "native"].filter((runtime) => hasResult(runtime, scenario))
    .map((runtime) => resultOf(runtime, scenario));

/** The average over the runs. */
const averageOf = (
  { measurements }: ScenarioResult,
  contender: string,
  load: string,
  name: HttpFigure,
): number | undefined =>
  measurements.find((each) => each.contender === contender && each.case === caseOf(load, name))
    ?.mean;

const labelOf = ({ runtime }: ScenarioResult, contender: string): string =>
  runtime === "native" ? contender : `${title(runtime)}: ${contender}`;

/** What has no figure, and why. */
function gapsOf(result: ScenarioResult, loads: readonly string[]): string[] {
  return result.failures
    .filter(({ case: name }) => name === undefined || loads.includes(loadOf(name)))
    .map(({ contender, case: name, reason }) =>
      `Not measured: ${labelOf(result, contender)}${
        name === undefined ? "" : `, ${loadOf(name)}`
      }: ${reason}.`
    );
}

/** A table over the loads, a row for each server of each runtime that has a figure of one of them. */
function loadTable(
  loads: readonly (readonly [load: string, label: string])[],
  contenders: readonly string[],
  names: readonly HttpFigure[],
): string {
  const results = resultsOf("http");
  if (results.length === 0) return NOT_MEASURED;
  const columns = loads.flatMap(([load, label]) =>
    names.map((name) => ({ load, name, head: `${label}: ${headOf(name)}` }))
  );
  const rows = results.flatMap((result) =>
    contenders.map((contender) => ({
      label: labelOf(result, contender),
      values: columns.map(({ load, name }) => averageOf(result, contender, load, name)),
    }))
  ).filter(({ values }) => values.some((value) => value !== undefined));
  if (rows.length === 0) return NOT_MEASURED;
  const gaps = results.flatMap((result) => gapsOf(result, loads.map(([load]) => load)));
  return [
    table(
      ["average", ...columns.map(({ head }) => head)],
      `l${"r".repeat(columns.length)}`,
      rows.map(({ label, values }) => [label, ...values.map(figure)]),
    ),
    ...(gaps.length === 0 ? [] : [gaps.join("\n")]),
  ].join("\n\n");
}

const headOf = (name: HttpFigure): string =>
  name === RATE ? RATE : name === CPU ? `${CPU}, µs` : `${name.replace(" latency", "")}, ms`;

/** The tool that loaded the servers. */
function toolOf(): string {
  const loads = resultsOf("http").flatMap(({ cases = [] }) => cases.map(loadOf));
  return TOOLS.find((tool) => loads.includes(byTool(TEXT, tool))) ?? TOOLS[0];
}

const bodies = (nameOf: (body: typeof TEXT | typeof JSON_BODY) => string): string =>
  loadTable([[nameOf(TEXT), TEXT], [nameOf(JSON_BODY), JSON_BODY]], SERVERS, [RATE, MEAN, P99]);

const fullLoad = (): string => bodies((body) => byTool(body, toolOf()));

const gets = (): string => bodies(byGets);

const websockets = (): string =>
  loadTable([[ECHO, "echo"]], [ONE_THREAD, HEDDLE_WORKERS], [RATE, MEAN, P99]);

const shortTasks = (): string =>
  loadTable([[HASHES, "20 hashes"]], SHORT_TASK_CONTENDERS, [RATE, MEAN, P50, P99, CPU]);

/** Light requests, their p99 against the main thread's, and all requests. */
function mixed(loop: string): string {
  const results = resultsOf("http").filter(({ runtime }) => runtime !== "native");
  if (results.length === 0) return NOT_MEASURED;
  const rows = results.flatMap((result) => {
    const p99Of = (contender: string) => averageOf(result, contender, mixedLoad(loop, LIGHT), P99);
    return MIXED_CONTENDERS.map((contender) => {
      const of = (requests: string, name: HttpFigure): string =>
        figure(averageOf(result, contender, mixedLoad(loop, requests), name));
      return [
        labelOf(result, contender),
        of(LIGHT, P50),
        of(LIGHT, P99),
        contender === ON_MAIN ? "" : times(p99Of(ON_MAIN), p99Of(contender)),
        of(HEAVY, P50),
        of(HEAVY, P99),
        of(ALL, RATE),
      ];
    });
  });
  const head = [
    "average",
    "light: p50, ms",
    "light: p99, ms",
    "p99 lower by",
    "heavy: p50, ms",
    "heavy: p99, ms",
    `all: ${RATE}`,
  ];
  const loads = [ALL, LIGHT, HEAVY].map((requests) => mixedLoad(loop, requests));
  const gaps = results.flatMap((result) => gapsOf(result, loads));
  return [table(head, "lrrrrrr", rows), ...gaps].join("\n\n");
}

/** A row for each minute. */
function soak(): string {
  const results = resultsOf("http-soak");
  if (results.length === 0) return NOT_MEASURED;
  const minutes = [
    ...new Set(results.flatMap(({ measurements }) => measurements.map((m) => m.size))),
  ];
  const of = (result: ScenarioResult, name: string, size: number): string =>
    figure(result.measurements.find((each) => each.case === name && each.size === size)?.p50);
  const parts = [[SOAK_MEMORY, "MiB"], [SOAK_RATE, RATE], [SOAK_LIGHT, "light p99, ms"]] as const;
  const columns = results.flatMap((result) =>
    parts.map(([name, unit]) => ({ result, name, unit }))
  );
  return [
    ...results.map(sourceOf),
    table(
      ["minute", ...columns.map(({ result, unit }) => `${title(result.runtime)}: ${unit}`)],
      `r${"r".repeat(columns.length)}`,
      minutes.sort((a, b) => a - b).map((minute) => [
        String(minute),
        ...columns.map(({ result, name }) => of(result, name, minute)),
      ]),
    ),
  ].join("\n\n");
}

/** Other languages have versions of their own; the result has that of the Node that started them. */
const nameOf = ({ runtime }: ScenarioResult): string =>
  runtime === "native" ? "Go and Rust, started by Node" : title(runtime);

function source(): string {
  const results = resultsOf("http");
  if (results.length === 0) return NOT_MEASURED;
  return results.map((result) => `${nameOf(result)}: ${sourceOf(result)}`).join("\n\n");
}

/** By name of the table. */
export const HTTP_TABLES: Readonly<Record<string, () => string>> = {
  "source": source,
  "full load": fullLoad,
  "GETs": gets,
  "websockets": websockets,
  "short tasks": shortTasks,
  "mixed load in a closed loop": () => mixed(CLOSED),
  "mixed load in an open loop": () => mixed(OPEN),
  "soak": soak,
};
