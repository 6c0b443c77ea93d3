/** The tables of docs/waiting.md. */
import type { Measurement } from "../harness/schema.ts";
import { formatUs } from "../harness/units.ts";
import { BURST_CASE, BURST_SIZES, TIMER_CASE, TIMER_SIZES } from "../scenarios/burst-cases.ts";
import { AWAITING, IDLE } from "../scenarios/idle-cases.ts";
import { ALONE, BESIDE_LONG, LAST_MICRO } from "../scenarios/mixed-cases.ts";
import { workersOf } from "../scenarios/pools-in-turn.ts";
import * as page from "./page.ts";

const ratio = (value: number | undefined): string => value?.toFixed(2) ?? "–";

/** The first measurement of a scenario that matches. */
const first = (
  runtime: string,
  scenario: string,
  matches: (measurement: Measurement) => boolean,
): Measurement | undefined => page.resultOf(runtime, scenario).measurements.find(matches);

const fanOut = (
  label: string,
  name: string,
  key: "ratioToIdeal" | "ratioToReference",
): string[] =>
  page.byRuntime(label, (runtime) =>
    ratio(
      first(runtime, "fan-out", (each) => each.case === name && each.size === 2)?.[key],
    ));

const sweep = (
  batch: number,
  key: "ratioToReference" | "meanRatioToReference",
  what: string,
): string[] =>
  page.byRuntime(
    `void calls, batch ${batch}, with 2 / 4 / 8 threads against 1, ${what}`,
    (runtime) =>
      [2, 4, 8].map((size) =>
        page.measurementOf(
          page.resultOf(runtime, "thread-sweep"),
          workersOf(size),
          `void call, batch ${batch}`,
          size,
        )?.[key]?.toFixed(1) ?? "–"
      ).join(" / "),
  );

const burst = (label: string, contender: string): string[] =>
  page.byRuntime(
    label,
    (runtime) =>
      BURST_SIZES.map((size) =>
        page.figureOf(page.resultOf(runtime, "burst"), contender, BURST_CASE, size, "perCall")
      ).join(" / "),
  );

const idle = (label: string, name: string): string[] =>
  page.byRuntime(label, (runtime) =>
    ["heddle", "raw worker"].map((contender) =>
      page.figure(
        first(
          runtime,
          "idle-cost",
          (each) => each.contender === contender && each.case === name,
        )?.p50,
      )
    ).join(", "));

const overview = (): string =>
  page.table(["", ...page.TITLES], [
    page.byRuntime(
      "1,000 quick calls beside one of 200 ms, 2 workers: all answered after",
      (runtime) =>
        `${page.figure(first(runtime, "mixed-load", (each) => each.case === LAST_MICRO)?.p50)} ms`,
    ),
    fanOut("8 tasks of 5 ms, 2 workers, over the ideal", "8 tasks of 5 ms", "ratioToIdeal"),
    fanOut("64 tasks of 10 µs, 2 workers against 1", "64 tasks of 10 µs", "ratioToReference"),
    fanOut("1,000 tasks of 50 µs, 2 workers against 1", "1,000 tasks of 50 µs", "ratioToReference"),
    ...[1, 100, 1000].flatMap((batch) => [
      sweep(batch, "ratioToReference", "p50"),
      sweep(batch, "meanRatioToReference", "mean"),
    ]),
    burst("f64 echoes, 1,000 / 10,000 / 100,000 at once, µs a call", "heddle"),
    burst("the same, Knitting", "Knitting"),
    page.byRuntime(
      "1 ms timer of the host, p99 late: calls awaited one by one / 100,000 at once",
      (runtime) =>
        TIMER_SIZES.map((size) => {
          const late = page.measurementOf(
            page.resultOf(runtime, "burst"),
            "heddle",
            TIMER_CASE,
            size,
          )?.p99;
          return `${page.figure((late ?? NaN) / 1000)} ms`;
        }).join(" / "),
    ),
    idle("idle pool of 4: % of a core, and 4 bare workers", IDLE),
    idle("host while 100 ms tasks run, % of a core, and a raw worker's", AWAITING),
    page.byRuntime(
      "one quick call beside 100 ms tasks, alone",
      (runtime) =>
        [BESIDE_LONG, ALONE].map((contender) =>
          `${page.figureOf(page.resultOf(runtime, "mixed-load"), contender, "void call", 1)} µs`
        ).join(", "),
    ),
  ], 4);

function lateness(): string {
  const sizes = new Set(page.resultOf("node", "lateness").measurements.map(({ size }) => size));
  const rows = [...sizes].sort((a, b) => a - b).map((size) => [
    formatUs(size),
    ...page.RUNTIMES.flatMap((runtime) => {
      const found = page.measurementOf(
        page.resultOf(runtime, "lateness"),
        "heddle",
        "spinning task",
        size,
      );
      return [
        `${page.figure(found?.p50)} (${ratio(found?.ratioToBaseline)})`,
        `${page.figure(found?.p99)} (${ratio(found?.p99RatioToBaseline)})`,
      ];
    }),
  ]);
  return page.table(["task", ...page.TITLES.flatMap((name) => [`${name} p50`, "p99"])], rows, 7);
}

export const WAITING_TABLES: page.Tables = { "waiting": overview, "lateness": lateness };
