/** The tables of a runtime's page in docs/benchmarks/. */
import type { Measurement, ScenarioResult } from "../harness/schema.ts";
import { formatBytes } from "../harness/units.ts";
import { WEB_WORKER } from "../scenarios/cold-cases.ts";
import { ADAPTER, HOT_SIZES, HOT_VALUES, type HotValue, WITH_TWO } from "../scenarios/hot-cases.ts";
import {
  BARE_FORK,
  JEST_WORKER,
  PROCESS_VALUES,
  sizesOf,
  TINYPOOL,
  WORKERPOOL,
} from "../scenarios/processes-cases.ts";
import { coldTable } from "./cold-page.ts";
import * as page from "./page.ts";

const KIB = 1024;

/** A row per contender; those without figures say why. */
function contenderRows(
  result: ScenarioResult,
  contenders: readonly string[],
  cells: (contender: string) => readonly string[],
): string[][] {
  return contenders.map((contender) => {
    const isOwn = (each: { readonly contender: string }): boolean => each.contender === contender;
    if (result.measurements.some(isOwn)) return [contender, ...cells(contender)];
    const own = result.failures.filter(isOwn);
    const failure = own.find((each) => each.case === undefined) ?? own[0];
    return [contender, failure?.reason ?? "not measured"];
  });
}

const contendersOf = ({ measurements, failures }: ScenarioResult): string[] => [
  ...new Set([...measurements, ...failures].map(({ contender }) => contender)),
];

const AT_ONCE = [1, 10, 25, 50, 100];

function ipc(result: ScenarioResult): string {
  const of = (name: string) => page.measurementOf(result, name, "message", 1)?.p50 ?? Infinity;
  const sorted = contendersOf(result).sort((a, b) => of(a) === of(b) ? 0 : of(a) - of(b));
  return page.table(
    ["µs, p50", ...AT_ONCE.map((size) => `${size} at once`)],
    contenderRows(
      result,
      sorted,
      (name) => AT_ONCE.map((size) => page.figureOf(result, name, "message", size)),
    ),
  );
}

/** Times, and how many times those of the contender to which they are paired. */
function inTurn(
  result: ScenarioResult,
  contenders: readonly string[],
  values: readonly HotValue[] = HOT_VALUES,
  sizesOf: (name: string) => readonly number[] = () => HOT_SIZES,
): string {
  const rows = values.flatMap(({ name }) =>
    sizesOf(name).map((size) => [
      size === 1 ? `${name}, one at a time` : `${name}, ${size} at once`,
      ...contenders.map((contender) => {
        const { p50, paired } = page.measurementOf(result, contender, name, size) ?? {};
        return `${page.figure(p50)}${paired === undefined ? "" : ` (${page.pairedTimes(paired)})`}`;
      }),
    ])
  );
  return page.table(["µs, median", ...contenders], rows);
}

const hot = (result: ScenarioResult): string =>
  inTurn(result, [
    "heddle",
    "bare worker",
    ...(result.runtime === "node" ? [] : [WEB_WORKER]),
    "Piscina",
    ...(result.runtime === "deno" ? [] : ["Tinypool"]),
    "Knitting",
  ]);

const adapter = (result: ScenarioResult): string =>
  inTurn(result, [ADAPTER, "Piscina", `${ADAPTER}, ${WITH_TWO}`, `Piscina, ${WITH_TWO}`, "heddle"]);

const processes = (result: ScenarioResult): string =>
  inTurn(
    result,
    ["heddle", BARE_FORK, JEST_WORKER, TINYPOOL, WORKERPOOL],
    PROCESS_VALUES,
    sizesOf,
  );

const BATCHES = [1, 10, 100, 1000];

function latency(result: ScenarioResult): string {
  const rows = ["f64 echo", "void call", "async void call"].flatMap((name) =>
    contendersOf(result)
      .filter((contender) =>
        result.measurements.some((each) => each.contender === contender && each.case === name)
      )
      .map((contender) => [
        `${name}, ${contender}`,
        ...BATCHES.flatMap((size) =>
          (["p50", "p99"] as const).map((key) => page.figureOf(result, contender, name, size, key))
        ),
      ])
  );
  return page.table(["µs", ...BATCHES.flatMap((size) => [`${size}: p50`, "p99"])], rows);
}

function types(result: ScenarioResult): string {
  const contenders = ["heddle", "Knitting", "heddle (JSON text)", "postMessage"];
  const rows = (result.cases ?? []).map((name) => [
    name,
    ...contenders.flatMap((contender) =>
      [1, 100].map((size) => page.figureOf(result, contender, name, size, "perCall"))
    ),
  ]);
  const head = contenders.flatMap((contender) => [`${contender}: 1`, "100"]);
  return page.table(["µs per call, p50", ...head], rows);
}

function growth(result: ScenarioResult): string {
  const sizes = [32, 2 * KIB, 32 * KIB, 1024 * KIB, 4096 * KIB];
  const rows = ["string", "bytes"].flatMap((kind) =>
    ["1 call", "64 calls"].flatMap((calls) =>
      contenderRows(
        result,
        contendersOf(result),
        (contender) =>
          sizes.map((size) =>
            page.figureOf(result, contender, `${kind}, ${calls}`, size, "gigabytesPerSecond")
          ),
      ).map(([contender, ...cells]) => [`${kind}, ${calls}, ${contender}`, ...cells])
    )
  );
  return page.table(["GB/s one way", ...sizes.map(formatBytes)], rows);
}

const heavyLoad = ({ measurements, machine }: ScenarioResult): string =>
  page.table(
    ["threads", "p50 ms", "min ms", "speed-up", "efficiency"],
    measurements.map((each: Measurement) => [
      `${each.contender}${each.size + 1 > machine.cores ? " (oversubscribed)" : ""}`,
      page.figure(each.p50),
      page.figure(each.min),
      each.speedUp?.toFixed(2) ?? "–",
      page.percent(each.efficiency),
    ]),
  );

function soak(result: ScenarioResult): string {
  const minutes = [...new Set(result.measurements.map(({ size }) => size))];
  const at = [...new Set([minutes[0]!, minutes[minutes.length >> 1]!, minutes.at(-1)!])];
  const names = [...new Set(result.measurements.map((each) => each.case))];
  const rows = names.map((name) => [
    name,
    ...at.flatMap((minute) => {
      const found = page.measurementOf(result, "heddle", name, minute);
      return [`${page.figure(found?.p50)} ${found?.unit ?? ""}`, `${page.figure(found?.p99)}`];
    }),
  ]);
  return page.table(["", ...at.flatMap((minute) => [`minute ${minute}: p50`, "p99"])], rows);
}

/** By the name on the page: the scenario, and what its result is there. */
const TABLES: Readonly<Record<string, readonly [string, (result: ScenarioResult) => string]>> = {
  "hot": ["hot", hot],
  "adapter": ["adapter", adapter],
  "processes": ["processes", processes],
  "ipc": ["ipc", ipc],
  "latency": ["latency", latency],
  "types": ["types", types],
  "growth": ["payload-growth", growth],
  "heavyLoad": ["heavy-load", heavyLoad],
  "cold": ["cold", (result) => coldTable(result, ["number", "object, 200 B"])],
  "soak": ["soak", soak],
};

/** Tables of a runtime, by name. */
export const runtimeTables = (runtime: string): page.Tables =>
  Object.fromEntries(
    Object.entries(TABLES).map(([name, [scenario, create]]) => [name, () => {
      if (!page.hasResult(runtime, scenario)) return "Not part of this reference run.";
      const result = page.resultOf(runtime, scenario);
      return page.sourced(result, create(result));
    }]),
  );
