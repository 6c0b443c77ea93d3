/** The tables of docs/benchmarks/nats.md. */
import { AT_ONCE, CONTENDERS, MACHINES, ROUND_TRIP, THROUGHPUT } from "../scenarios/nats-cases.ts";
import * as page from "./page.ts";

const NS_PER_US = 1000;

/** Microseconds of a call, by each contender. */
const usOf = (runtime: string, size: number, key: "p50" | "p99"): (number | undefined)[] =>
  CONTENDERS.map((contender) => {
    const ns = page.measurementOf(page.resultOf(runtime, "nats"), contender, ROUND_TRIP, size)
      ?.[key];
    return ns === undefined ? undefined : ns / NS_PER_US;
  });

function calls(): string {
  const rows = page.RUNTIMES.flatMap((runtime) =>
    AT_ONCE.map((size) => {
      const all = usOf(runtime, size, "p50");
      const [heddle, ...others] = all;
      return [
        `${page.title(runtime)}, ${size} at once`,
        ...all.map(page.figure),
        ...others.map((other) => page.times(heddle, other)),
      ];
    })
  );
  const head = [...CONTENDERS, "heddle ÷ raw", "heddle ÷ raw with a pool"];
  return page.sourced(
    page.resultOf("node", "nats"),
    page.table(["µs for each call, median", ...head], rows),
  );
}

const tail = (): string =>
  page.table(
    ["µs for each call, p99, 1 at once", ...CONTENDERS],
    page.RUNTIMES.map((
      runtime,
    ) => [page.title(runtime), ...usOf(runtime, 1, "p99").map(page.figure)]),
  );

const throughput = (): string =>
  page.table(
    [
      "calls a second",
      ...MACHINES.map((size) => `${size} process${size > 1 ? "es" : ""}`),
    ],
    page.RUNTIMES.flatMap((runtime) =>
      CONTENDERS.map((contender) => [
        `${page.title(runtime)}, ${contender}`,
        ...MACHINES.map((size) =>
          page.figureOf(page.resultOf(runtime, "nats"), contender, THROUGHPUT, size)
        ),
      ])
    ),
  );

export const NATS_TABLES: page.Tables = page.whenMeasured("nats", page.RUNTIMES, {
  "calls over NATS": calls,
  "slow calls over NATS": tail,
  "machines": throughput,
});
