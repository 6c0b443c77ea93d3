/** The tables of docs/waiting.md. */
import { BURST_CASE, BURST_SIZES, TIMER_CASE, TIMER_SIZES } from "../scenarios/burst-cases.ts";
import { AWAITING, IDLE } from "../scenarios/idle-cases.ts";
import { ALONE, BESIDE_LONG, LAST_MICRO } from "../scenarios/mixed-cases.ts";
import type { Measurement } from "../harness/schema.ts";
import { formatUs } from "../harness/units.ts";
import { figure, measurementOf, resultOf, RUNTIMES, table, title } from "./shared.ts";

const ratio = (value: number | undefined): string => value?.toFixed(2) ?? "–";

const row = (label: string, cell: (runtime: string) => string): string[] => [
  label,
  ...RUNTIMES.map(cell),
];

function fanOut(label: string, name: string, workers: number, key: keyof Measurement): string[] {
  return row(label, (runtime) => {
    const found = resultOf(runtime, "fan-out").measurements.find((each) =>
      each.case === name && each.size === workers
    );
    return ratio(found?.[key] as number | undefined);
  });
}

function sweep(batch: number, key: "ratioToReference" | "meanRatioToReference"): string[] {
  const what = key === "ratioToReference" ? "p50" : "mean";
  return row(
    `void calls, batch ${batch}, with 2 / 4 / 8 threads against 1, ${what}`,
    (runtime) =>
      [2, 4, 8].map((size) => {
        const contender = `${size} workers`;
        const result = resultOf(runtime, "thread-sweep");
        const found = measurementOf(result, contender, `void call, batch ${batch}`, size);
        return found?.[key]?.toFixed(1) ?? "–";
      }).join(" / "),
  );
}

const burst = (label: string, contender: string): string[] =>
  row(
    label,
    (runtime) =>
      BURST_SIZES.map((size) =>
        figure(measurementOf(resultOf(runtime, "burst"), contender, BURST_CASE, size)?.perCall)
      ).join(" / "),
  );

const idle = (label: string, name: string): string[] =>
  row(label, (runtime) => {
    const { measurements } = resultOf(runtime, "idle-cost");
    const of = (contender: string) =>
      figure(
        measurements.find((each) => each.contender === contender && each.case === name)?.p50,
      );
    return `${of("heddle")}, ${of("raw worker")}`;
  });

function overview(): string {
  const rows = [
    row("1,000 quick calls beside one of 200 ms, 2 workers: all answered after", (runtime) => {
      const { measurements } = resultOf(runtime, "mixed-load");
      return `${figure(measurements.find((each) => each.case === LAST_MICRO)?.p50)} ms`;
    }),
    fanOut("8 tasks of 5 ms, 2 workers, over the ideal", "8 tasks of 5 ms", 2, "ratioToIdeal"),
    fanOut("64 tasks of 10 µs, 2 workers against 1", "64 tasks of 10 µs", 2, "ratioToReference"),
    fanOut(
      "1,000 tasks of 50 µs, 2 workers against 1",
      "1,000 tasks of 50 µs",
      2,
      "ratioToReference",
    ),
    ...[1, 100, 1000].flatMap((batch) => [
      sweep(batch, "ratioToReference"),
      sweep(batch, "meanRatioToReference"),
    ]),
    burst("f64 echoes, 1,000 / 10,000 / 100,000 at once, µs a call", "heddle"),
    burst("the same, Knitting", "Knitting"),
    row(
      "1 ms timer of the host, p99 late: calls awaited one by one / 100,000 at once",
      (runtime) => {
        const late = (size: number) =>
          measurementOf(resultOf(runtime, "burst"), "heddle", TIMER_CASE, size)?.p99;
        return TIMER_SIZES.map((size) => `${figure((late(size) ?? NaN) / 1000)} ms`).join(" / ");
      },
    ),
    idle("idle pool of 4: % of a core, and 4 bare workers", IDLE),
    idle("host while 100 ms tasks run, % of a core, and a raw worker's", AWAITING),
    row("one quick call beside 100 ms tasks, alone", (runtime) => {
      const result = resultOf(runtime, "mixed-load");
      const of = (contender: string) =>
        figure(measurementOf(result, contender, "void call", 1)?.p50);
      return `${of(BESIDE_LONG)} µs, ${of(ALONE)} µs`;
    }),
  ];
  return table(["", ...RUNTIMES.map(title)], "llll", rows);
}

function lateness(): string {
  const sizes = [
    ...new Set(resultOf("node", "lateness").measurements.map(({ size }) => size)),
  ].sort((a, b) => a - b);
  const rows = sizes.map((size) => [
    formatUs(size),
    ...RUNTIMES.flatMap((runtime) => {
      const found = measurementOf(resultOf(runtime, "lateness"), "heddle", "spinning task", size);
      return [
        `${figure(found?.p50)} (${ratio(found?.ratioToBaseline)})`,
        `${figure(found?.p99)} (${ratio(found?.p99RatioToBaseline)})`,
      ];
    }),
  ]);
  const head = RUNTIMES.flatMap((runtime) => [`${title(runtime)} p50`, "p99"]);
  return table(["task", ...head], "lllllll", rows);
}

export const WAITING_TABLES: Readonly<Record<string, () => string>> = {
  "waiting": overview,
  "lateness": lateness,
};
