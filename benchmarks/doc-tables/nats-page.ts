/** The tables of docs/benchmarks/nats.md. */
import { AT_ONCE, CONTENDERS, MACHINES, ROUND_TRIP, THROUGHPUT } from "../scenarios/nats-cases.ts";
import {
  figure,
  figureOf,
  measurementOf,
  resultOf,
  RUNTIMES,
  sourced,
  table,
  type Tables,
  times,
  title,
  whenMeasured,
} from "./shared.ts";

const NS_PER_US = 1000;

/** Microseconds of a call, by each contender. */
const usOf = (runtime: string, size: number, key: "p50" | "p99"): (number | undefined)[] =>
  CONTENDERS.map((contender) => {
    const ns = measurementOf(resultOf(runtime, "nats"), contender, ROUND_TRIP, size)?.[key];
    return ns === undefined ? undefined : ns / NS_PER_US;
  });

function calls(): string {
  const rows = RUNTIMES.flatMap((runtime) =>
    AT_ONCE.map((size) => {
      const all = usOf(runtime, size, "p50");
      const [heddle, ...others] = all;
      return [
        `${title(runtime)}, ${size} at once`,
        ...all.map(figure),
        ...others.map((other) => times(heddle, other)),
      ];
    })
  );
  const head = [...CONTENDERS, "heddle ÷ raw", "heddle ÷ raw with a pool"];
  return sourced(resultOf("node", "nats"), table(["µs for each call, median", ...head], rows));
}

const tail = (): string =>
  table(
    ["µs for each call, p99, 1 at once", ...CONTENDERS],
    RUNTIMES.map((runtime) => [title(runtime), ...usOf(runtime, 1, "p99").map(figure)]),
  );

const throughput = (): string =>
  table(
    [
      "calls a second",
      ...MACHINES.map((size) => `${size} process${size > 1 ? "es" : ""}`),
    ],
    RUNTIMES.flatMap((runtime) =>
      CONTENDERS.map((contender) => [
        `${title(runtime)}, ${contender}`,
        ...MACHINES.map((size) => figureOf(resultOf(runtime, "nats"), contender, THROUGHPUT, size)),
      ])
    ),
  );

export const NATS_TABLES: Tables = whenMeasured("nats", RUNTIMES, {
  "calls over NATS": calls,
  "slow calls over NATS": tail,
  "machines": throughput,
});
