/** The tables of docs/benchmarks/nats.md. */
import {
  AT_ONCE,
  CONTENDERS,
  HEDDLE,
  MACHINES,
  RAW,
  RAW_POOL,
  ROUND_TRIP,
  THROUGHPUT,
} from "../scenarios/nats-cases.ts";
import {
  figure,
  hasResult,
  measurementOf,
  resultOf,
  RUNTIMES,
  sourceOf,
  table,
  times,
  title,
} from "./shared.ts";

const NOT_MEASURED = "Not measured yet.";
const US = 1000;
const isMeasured = (): boolean => RUNTIMES.every((runtime) => hasResult(runtime, "nats"));
const us = (ns: number | undefined): string => figure(ns === undefined ? undefined : ns / US);

/** One row for each runtime and number of calls at once. */
function calls(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const rows = RUNTIMES.flatMap((runtime) =>
    AT_ONCE.map((size) => {
      const of = (contender: string) =>
        measurementOf(resultOf(runtime, "nats"), contender, ROUND_TRIP, size);
      const [heddle, raw, rawPool] = [HEDDLE, RAW, RAW_POOL].map((name) => of(name)?.p50);
      return [
        `${title(runtime)}, ${size} at once`,
        us(heddle),
        us(raw),
        us(rawPool),
        times(heddle, raw),
        times(heddle, rawPool),
      ];
    })
  );
  const head = [
    "µs for each call, median",
    ...CONTENDERS,
    "heddle ÷ raw",
    "heddle ÷ raw with a pool",
  ];
  return `${sourceOf(resultOf("node", "nats"))}\n\n${table(head, "lrrrrr", rows)}`;
}

function tail(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const rows = RUNTIMES.map((runtime) => {
    const result = resultOf(runtime, "nats");
    return [
      title(runtime),
      ...CONTENDERS.map((contender) => us(measurementOf(result, contender, ROUND_TRIP, 1)?.p99)),
    ];
  });
  return table(["µs for each call, p99, 1 at once", ...CONTENDERS], "lrrr", rows);
}

function throughput(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const rows = RUNTIMES.flatMap((runtime) => {
    const result = resultOf(runtime, "nats");
    return CONTENDERS.map((contender) => [
      `${title(runtime)}, ${contender}`,
      ...MACHINES.map((size) => figure(measurementOf(result, contender, THROUGHPUT, size)?.p50)),
    ]);
  });
  const head = [
    "calls a second",
    ...MACHINES.map((size) => `${size} process${size > 1 ? "es" : ""}`),
  ];
  return table(head, `l${"r".repeat(MACHINES.length)}`, rows);
}

export const NATS_TABLES: Readonly<Record<string, () => string>> = {
  "calls over NATS": calls,
  "slow calls over NATS": tail,
  "machines": throughput,
};
