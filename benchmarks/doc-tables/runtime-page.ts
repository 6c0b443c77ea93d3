/** The tables of a runtime's page in docs/benchmarks/. */
import type { ScenarioResult } from "../harness/schema.ts";
import { formatBytes } from "../harness/units.ts";
import { coldTable } from "./cold-page.ts";
import { WEB_WORKER } from "../scenarios/cold-cases.ts";
import { ADAPTER, HOT_SIZES, HOT_VALUES, WITH_TWO } from "../scenarios/hot-cases.ts";
import {
  figure,
  hasResult,
  measurementOf,
  pairedTimes,
  resultOf,
  sourceOf,
  table,
} from "./shared.ts";

const KIB = 1024;

const columns = (count: number): string => `l${"r".repeat(count)}`;

/** Why a contender has no figures at all. */
function reasonOf({ failures }: ScenarioResult, contender: string): string | undefined {
  return failures.find((each) => each.contender === contender && each.case === undefined)?.reason ??
    failures.find((each) => each.contender === contender)?.reason;
}

/** A row per contender; those without figures say why. */
function contenderRows(
  result: ScenarioResult,
  contenders: readonly string[],
  cells: (contender: string) => readonly string[],
): string[][] {
  return contenders.map((contender) => {
    const isMeasured = result.measurements.some((each) => each.contender === contender);
    if (isMeasured) return [contender, ...cells(contender)];
    return [contender, reasonOf(result, contender) ?? "not measured"];
  });
}

function contendersOf({ measurements, failures }: ScenarioResult): string[] {
  const names = [...measurements, ...failures].map(({ contender }) => contender);
  return [...new Set(names)];
}

const AT_ONCE = [1, 10, 25, 50, 100];

function ipc(runtime: string): string {
  const result = resultOf(runtime, "ipc");
  const sorted = contendersOf(result).sort((a, b) => {
    const of = (name: string) => measurementOf(result, name, "message", 1)?.p50 ?? Infinity;
    return of(a) === of(b) ? 0 : of(a) - of(b);
  });
  const rows = contenderRows(
    result,
    sorted,
    (name) => AT_ONCE.map((size) => figure(measurementOf(result, name, "message", size)?.p50)),
  );
  return `${sourceOf(result)}\n\n${
    table(["µs, p50", ...AT_ONCE.map((size) => `${size} at once`)], columns(AT_ONCE.length), rows)
  }`;
}

/** Times, and how many times those of the contender to which they are paired. */
function inTurn(
  runtime: string,
  scenario: "hot" | "adapter",
  contenders: readonly string[],
): string {
  const result = resultOf(runtime, scenario);
  const places = HOT_VALUES.flatMap(({ name }) => HOT_SIZES.map((size) => ({ name, size })));
  const rows = places.map(({ name, size }) => [
    size === 1 ? `${name}, one at a time` : `${name}, ${size} at once`,
    ...contenders.map((contender) => {
      const found = measurementOf(result, contender, name, size);
      if (found === undefined) return "–";
      const { p50, paired } = found;
      return `${figure(p50)}${paired === undefined ? "" : ` (${pairedTimes(paired)})`}`;
    }),
  ]);
  return `${sourceOf(result)}\n\n${
    table(["µs, median", ...contenders], columns(contenders.length), rows)
  }`;
}

const hot = (runtime: string): string =>
  inTurn(runtime, "hot", [
    "heddle",
    "bare worker",
    ...(runtime === "node" ? [] : [WEB_WORKER]),
    "Piscina",
    ...(runtime === "deno" ? [] : ["Tinypool"]),
    "Knitting",
  ]);

const adapter = (runtime: string): string =>
  inTurn(runtime, "adapter", [
    ADAPTER,
    "Piscina",
    `${ADAPTER}, ${WITH_TWO}`,
    `Piscina, ${WITH_TWO}`,
    "heddle",
  ]);

const BATCHES = [1, 10, 100, 1000];

function latency(runtime: string): string {
  const result = resultOf(runtime, "latency");
  const cases = ["f64 echo", "void call", "async void call"];
  const rows = cases.flatMap((name) =>
    contendersOf(result)
      .filter((contender) =>
        result.measurements.some((each) => each.contender === contender && each.case === name)
      )
      .map((contender) => [
        `${name}, ${contender}`,
        ...BATCHES.flatMap((size) => {
          const found = measurementOf(result, contender, name, size);
          return [figure(found?.p50), figure(found?.p99)];
        }),
      ])
  );
  const head = BATCHES.flatMap((size) => [`${size}: p50`, "p99"]);
  return `${sourceOf(result)}\n\n${table(["µs", ...head], columns(head.length), rows)}`;
}

function types(runtime: string): string {
  const result = resultOf(runtime, "types");
  const contenders = ["heddle", "Knitting", "heddle (JSON text)", "postMessage"];
  const rows = (result.cases ?? []).map((name) => [
    name,
    ...contenders.flatMap((contender) =>
      [1, 100].map((size) => figure(measurementOf(result, contender, name, size)?.perCall))
    ),
  ]);
  const head = contenders.flatMap((contender) => [`${contender}: 1`, "100"]);
  return `${sourceOf(result)}\n\n${
    table(["µs per call, p50", ...head], columns(head.length), rows)
  }`;
}

function growth(runtime: string): string {
  const result = resultOf(runtime, "payload-growth");
  const sizes = [32, 2 * KIB, 32 * KIB, 1024 * KIB, 4096 * KIB];
  const rows = ["string", "bytes"].flatMap((kind) =>
    ["1 call", "64 calls"].flatMap((calls) =>
      contenderRows(
        result,
        contendersOf(result),
        (contender) =>
          sizes.map((size) =>
            figure(
              measurementOf(result, contender, `${kind}, ${calls}`, size)?.gigabytesPerSecond,
            )
          ),
      ).map(([contender, ...cells]) => [`${kind}, ${calls}, ${contender}`, ...cells])
    )
  );
  return `${sourceOf(result)}\n\n${
    table(["GB/s one way", ...sizes.map(formatBytes)], columns(sizes.length), rows)
  }`;
}

function heavyLoad(runtime: string): string {
  const result = resultOf(runtime, "heavy-load");
  const rows = result.measurements.map((each) => [
    `${each.contender}${each.size + 1 > result.machine.cores ? " (oversubscribed)" : ""}`,
    figure(each.p50),
    figure(each.min),
    each.speedUp?.toFixed(2) ?? "–",
    each.efficiency === undefined ? "–" : `${(100 * each.efficiency).toFixed(0)} %`,
  ]);
  return `${sourceOf(result)}\n\n${
    table(["threads", "p50 ms", "min ms", "speed-up", "efficiency"], columns(4), rows)
  }`;
}

const cold = (runtime: string): string =>
  `${sourceOf(resultOf(runtime, "cold"))}\n\n${coldTable(runtime, ["number", "object, 200 B"])}`;

function soak(runtime: string): string {
  if (!hasResult(runtime, "soak")) return "Not part of this reference run.";
  const result = resultOf(runtime, "soak");
  const minutes = [...new Set(result.measurements.map(({ size }) => size))];
  const at = [...new Set([minutes[0]!, minutes[minutes.length >> 1]!, minutes.at(-1)!])];
  const names = [...new Set(result.measurements.map((each) => each.case))];
  const rows = names.map((name) => [
    name,
    ...at.flatMap((minute) => {
      const found = measurementOf(result, "heddle", name, minute);
      return [`${figure(found?.p50)} ${found?.unit ?? ""}`, `${figure(found?.p99)}`];
    }),
  ]);
  const head = at.flatMap((minute) => [`minute ${minute}: p50`, "p99"]);
  return `${sourceOf(result)}\n\n${table(["", ...head], columns(head.length), rows)}`;
}

/** Tables of a runtime, by name. */
export const runtimeTables = (runtime: string): Readonly<Record<string, () => string>> =>
  Object.fromEntries(
    Object.entries({ hot, adapter, ipc, latency, types, growth, heavyLoad, cold, soak }).map(
      ([name, create]) => [name, () => create(runtime)],
    ),
  );
