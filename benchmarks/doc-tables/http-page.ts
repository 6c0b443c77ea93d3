/** The tables of docs/benchmarks/http.md. */
import type { ScenarioResult } from "../harness/schema.ts";
import * as http from "../scenarios/http-cases.ts";
import * as page from "./page.ts";

const SERVERS = [
  http.ONE_THREAD,
  http.HEDDLE_WORKERS,
  http.CLUSTER,
  http.FASTIFY,
  http.GO,
  http.HYPER,
] as const;
const TOOLS = ["wrk", "autocannon"] as const;

const results = (): ScenarioResult[] => page.resultsOf("http", page.WITH_NATIVE);

/** The average over the runs. */
const averageOf = (
  { measurements }: ScenarioResult,
  contender: string,
  load: string,
  name: http.HttpFigure,
): number | undefined =>
  measurements.find((each) => each.contender === contender && each.case === http.caseOf(load, name))
    ?.mean;

/** What has no figure, and why. */
const gapsOf = (result: ScenarioResult, loads: readonly string[]): string[] =>
  result.failures
    .filter(({ case: name }) => name === undefined || loads.includes(http.loadOf(name)))
    .map((each) =>
      page.gapOf(
        { ...each, contender: page.labelOf(result, each.contender) },
        each.case === undefined ? undefined : http.loadOf(each.case),
      )
    );

/** A table over the loads, a row for each server of each runtime that has a figure of one of them. */
function loadTable(
  loads: readonly (readonly [load: string, label: string])[],
  contenders: readonly string[],
  names: readonly http.HttpFigure[],
): string {
  const columns = loads.flatMap(([load, label]) =>
    names.map((name) => ({ load, name, head: `${label}: ${headOf(name)}` }))
  );
  const rows = results().flatMap((result) =>
    contenders.map((contender) => ({
      label: page.labelOf(result, contender),
      values: columns.map(({ load, name }) => averageOf(result, contender, load, name)),
    }))
  ).filter(({ values }) => values.some((value) => value !== undefined));
  if (rows.length === 0) return page.NOT_MEASURED;
  return page.table(
    ["average", ...columns.map(({ head }) => head)],
    rows.map(({ label, values }) => [label, ...values.map(page.figure)]),
  ) + page.after(results().flatMap((result) => gapsOf(result, loads.map(([load]) => load))));
}

const headOf = (name: http.HttpFigure): string =>
  name === http.RATE
    ? http.RATE
    : name === http.CPU
    ? `${http.CPU}, µs`
    : `${name.replace(" latency", "")}, ms`;

/** The tool that loaded the servers. */
function toolOf(): string {
  const loads = results().flatMap(({ cases = [] }) => cases.map(http.loadOf));
  return TOOLS.find((tool) => loads.includes(http.byTool(http.TEXT, tool))) ?? TOOLS[0];
}

const bodies = (nameOf: (body: typeof http.TEXT | typeof http.JSON_BODY) => string): string =>
  loadTable([[nameOf(http.TEXT), http.TEXT], [nameOf(http.JSON_BODY), http.JSON_BODY]], SERVERS, [
    http.RATE,
    http.MEAN,
    http.P99,
  ]);

/** Light requests, their p99 against the main thread's, and all requests. */
function mixed(loop: string): string {
  const own = page.resultsOf("http", page.RUNTIMES);
  const rows = own.flatMap((result) => {
    const p99Of = (contender: string) =>
      averageOf(result, contender, http.mixedLoad(loop, http.LIGHT), http.P99);
    return http.MIXED_CONTENDERS.map((contender) => {
      const of = (requests: string, name: http.HttpFigure): string =>
        page.figure(averageOf(result, contender, http.mixedLoad(loop, requests), name));
      return [
        page.labelOf(result, contender),
        of(http.LIGHT, http.P50),
        of(http.LIGHT, http.P99),
        contender === http.ON_MAIN ? "" : page.times(p99Of(http.ON_MAIN), p99Of(contender)),
        of(http.HEAVY, http.P50),
        of(http.HEAVY, http.P99),
        of(http.ALL, http.RATE),
      ];
    });
  });
  const light = ["light: p50, ms", "light: p99, ms", "p99 lower by"];
  const head = ["average", ...light, "heavy: p50, ms", "heavy: p99, ms", `all: ${http.RATE}`];
  const loads = [http.ALL, http.LIGHT, http.HEAVY].map((requests) =>
    http.mixedLoad(loop, requests)
  );
  return [page.table(head, rows), ...own.flatMap((result) => gapsOf(result, loads))].join("\n\n");
}

/** A row for each minute. */
function soak(): string {
  const own = page.resultsOf("http-soak", page.WITH_NATIVE);
  const minutes = new Set(own.flatMap(({ measurements }) => measurements.map((m) => m.size)));
  const parts = [[http.SOAK_MEMORY, "MiB"], [http.SOAK_RATE, http.RATE], [
    http.SOAK_LIGHT,
    "light p99, ms",
  ]] as const;
  const columns = own.flatMap((result) => parts.map(([name, unit]) => ({ result, name, unit })));
  return [
    ...own.map(page.sourceOf),
    page.table(
      ["minute", ...columns.map(({ result, unit }) => `${page.title(result.runtime)}: ${unit}`)],
      [...minutes].sort((a, b) => a - b).map((minute) => [
        String(minute),
        ...columns.map(({ result, name }) =>
          page.figure(
            result.measurements.find((each) => each.case === name && each.size === minute)?.p50,
          )
        ),
      ]),
      0,
    ),
  ].join("\n\n");
}

/** Other languages have versions of their own; the result has that of the Node that started them. */
const source = (): string =>
  results().map((result) => {
    const { runtime } = result;
    const name = runtime === "native" ? "Go and Rust, started by Node" : page.title(runtime);
    return `${name}: ${page.sourceOf(result)}`;
  }).join("\n\n");

/** By name of the table. */
export const HTTP_TABLES: page.Tables = {
  "source": source,
  "full load": () => bodies((body) => http.byTool(body, toolOf())),
  "GETs": () => bodies(http.byGets),
  "websockets": () =>
    loadTable([[http.ECHO, "echo"]], [http.ONE_THREAD, http.HEDDLE_WORKERS], [
      http.RATE,
      http.MEAN,
      http.P99,
    ]),
  "short tasks": () =>
    loadTable([[http.HASHES, "20 hashes"]], http.SHORT_TASK_CONTENDERS, http.FIGURES),
  "mixed load in a closed loop": () => mixed(http.CLOSED),
  "mixed load in an open loop": () => mixed(http.OPEN),
  "soak": soak,
};
