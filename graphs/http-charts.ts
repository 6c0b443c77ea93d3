/** Charts of `http` and `http-soak`. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import {
  ALL,
  type Body,
  byGets,
  byTool,
  caseOf,
  CLOSED,
  CLUSTER,
  ECHO,
  FASTIFY,
  GO,
  HEDDLE_WORKERS,
  type HttpFigure,
  HYPER,
  JSON_BODY,
  LIGHT,
  MIXED_CONTENDERS,
  mixedLoad,
  ONE_THREAD,
  OPEN,
  P99,
  RATE,
  SOAK_LIGHT,
  SOAK_MEMORY,
  SOAK_RATE,
  TEXT,
} from "../benchmarks/scenarios/http-cases.ts";
import { barChart, type Bars, figureOf, nameOf, type Results } from "./bar-chart.ts";
import { soakChart } from "./soak-charts.ts";
import { type ChartSpec, COLORS, type Figure } from "./style.ts";

const SERVERS = [ONE_THREAD, HEDDLE_WORKERS, CLUSTER, FASTIFY, GO, HYPER] as const;
const TOOLS = ["wrk", "autocannon"] as const;
const BODY_COLORS: Readonly<Record<Body, string>> = { [TEXT]: "#0072B2", [JSON_BODY]: "#E69F00" };

/** The average of a figure over the runs. */
const average = (
  result: ScenarioResult,
  contender: string,
  load: string,
  figure: HttpFigure,
): Figure | null =>
  figureOf(
    result,
    "mean",
    (each) => each.contender === contender && each.case === caseOf(load, figure),
  );

/** The label of a server, in short lines. */
function labelOf({ runtime }: ScenarioResult, contender: string): string[] {
  const lines = contender.split(/, | (?=per core)/);
  return runtime === "native" ? lines : [runtime, ...lines];
}

/** A bar for plain text and one for JSON, for every server of every runtime. */
function bodiesChart(
  results: Results,
  chart: { readonly name: string; readonly heading: string; readonly xAxis: string },
  loadsOf: (body: Body) => readonly string[],
): ChartSpec[] {
  const has = (result: ScenarioResult, contender: string): boolean =>
    loadsOf(TEXT).some((load) => average(result, contender, load, RATE) !== null);
  const places = results.flatMap((result) =>
    SERVERS.filter((contender) => has(result, contender))
      .map((contender) => ({ result, contender }))
  );
  const bars = ([TEXT, JSON_BODY] as const).map((body): Bars => ({
    label: body,
    color: BODY_COLORS[body],
    values: places.map(({ result, contender }) =>
      loadsOf(body).map((load) => average(result, contender, load, RATE))
        .find((found) => found !== null) ?? null
    ),
  }));
  return barChart(results, {
    ...chart,
    yAxis: "requests per second (higher is better)",
    groups: places.map(({ result, contender }) => labelOf(result, contender)),
    bars,
  });
}

function websocketChart(results: Results): ChartSpec[] {
  const contenders = [ONE_THREAD, HEDDLE_WORKERS];
  const own = results.filter(({ runtime }) => runtime !== "native");
  return barChart(results, {
    name: "http-websocket",
    heading: "Websocket echo over many connections (average of cold runs)",
    xAxis: "runtime",
    yAxis: "messages per second (higher is better)",
    groups: own.map(nameOf),
    bars: contenders.map((contender) => ({
      label: contender,
      color: contender === ONE_THREAD ? COLORS["raw worker"] : COLORS["heddle"],
      values: own.map((result) => average(result, contender, ECHO, RATE)),
    })),
  });
}

const MIXED_COLORS = ["#999999", COLORS["heddle"], COLORS["heddle, 2 workers"]] as const;

function mixedChart(
  results: Results,
  chart: {
    readonly name: string;
    readonly heading: string;
    readonly yAxis: string;
    readonly isLogarithmic: boolean;
  },
  loops: readonly string[],
  requests: string,
  figure: HttpFigure,
): ChartSpec[] {
  const own = results.filter(({ runtime }) => runtime !== "native");
  const places = own.flatMap((result) => loops.map((loop) => ({ result, loop })));
  return barChart(results, {
    ...chart,
    xAxis: "runtime and load",
    groups: places.map(({ result, loop }) => [nameOf(result), loop]),
    bars: MIXED_CONTENDERS.map((contender, index) => ({
      label: contender,
      color: MIXED_COLORS[index],
      values: places.map(({ result, loop }) =>
        average(result, contender, mixedLoad(loop, requests), figure)
      ),
    })),
  });
}

export function httpCharts(results: Results): ChartSpec[] {
  const xAxis = "server";
  return [
    ...bodiesChart(
      results,
      { name: "http", heading: "Web servers under full load (average of cold runs)", xAxis },
      (body) => TOOLS.map((tool) => byTool(body, tool)),
    ),
    ...bodiesChart(
      results,
      { name: "http-gets", heading: "5,000 GETs over 4 connections (average of cold runs)", xAxis },
      (body) => [byGets(body)],
    ),
    ...websocketChart(results),
    ...mixedChart(
      results,
      {
        name: "http-mixed",
        heading: "Light requests, while one in ten costs 20 ms of processor time (p99)",
        yAxis: "ms (logarithmic, lower is better)",
        isLogarithmic: true,
      },
      [CLOSED, OPEN],
      LIGHT,
      P99,
    ),
    ...mixedChart(
      results,
      {
        name: "http-mixed-rate",
        heading: "All requests of the mixed load, closed loop",
        yAxis: "requests per second (higher is better)",
        isLogarithmic: false,
      },
      [CLOSED],
      ALL,
      RATE,
    ),
  ];
}

export function httpSoakCharts(results: Results): ChartSpec[] {
  return [
    soakChart(results, {
      name: "http-soak-memory",
      heading: "Resident memory of a server that computes in a pool, minute by minute",
      yAxis: "MiB",
      case: SOAK_MEMORY,
      figures: ["p50"],
    }),
    soakChart(results, {
      name: "http-soak-latency",
      heading: "Light requests of that server: p99, minute by minute",
      yAxis: "ms (lower is better)",
      case: SOAK_LIGHT,
      figures: ["p50"],
    }),
    soakChart(results, {
      name: "http-soak-rate",
      heading: "Requests that the server answers, minute by minute",
      yAxis: "requests per second (higher is better)",
      case: SOAK_RATE,
      figures: ["p50"],
    }),
  ];
}
