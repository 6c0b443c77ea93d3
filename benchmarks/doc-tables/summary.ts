/** The first tables of docs/benchmarks/README.md: latency, heavy load, payloads. */
import type { Measurement } from "../harness/schema.ts";
import { figure, resultOf, RUNTIMES, table, title } from "./shared.ts";

const BATCHES = [1, 10, 100, 1000];

function latency(): string {
  const echoes = (name: string, contender: string, measurements: readonly Measurement[]) => [
    name,
    contender,
    ...BATCHES.map((size) =>
      figure(
        measurements.find((each) =>
          each.case === "f64 echo" && each.contender === contender && each.size === size
        )?.p50,
      )
    ),
  ];
  const rows = RUNTIMES.flatMap((runtime) => {
    const { version, measurements } = resultOf(runtime, "latency");
    return ["heddle", "raw ring floor", "postMessage", "Piscina"].map((contender) =>
      echoes(`${runtime} ${version}`, contender, measurements)
    );
  });
  const { version, measurements } = resultOf("tokio", "latency");
  const [, ...tokio] = echoes("", measurements[0]!.contender, measurements);
  tokio[0] = `Tokio ${version}, mpsc + oneshot`;
  return table(["", "", "1 call", "10", "100", "1000"], "llrrrr", [...rows, ["Rust", ...tokio]]);
}

function heavyLoad(): string {
  const rows = RUNTIMES.map((runtime) => {
    const { version, measurements } = resultOf(runtime, "heavy-load");
    const of = (name: string) => measurements.find(({ contender }) => contender === name)!;
    const one = of("main + 1");
    return [
      `${runtime} ${version}`,
      `${of("main alone").p50.toFixed(0)} ms`,
      `${one.p50.toFixed(0)} ms`,
      one.speedUp!.toFixed(2),
      `${(100 * one.efficiency!).toFixed(0)} %`,
      `${of("main + 1, by hand").p50.toFixed(0)} ms`,
    ];
  });
  const head = [
    "",
    "main thread alone",
    "main + 1 worker",
    "speed-up",
    "efficiency",
    "worker_threads by hand",
  ];
  return table(head, "lrrrrr", rows);
}

const PAYLOADS: readonly (readonly [name: string, label: string])[] = [
  ["object, 200 B", "object of 200 B"],
  ["array, 50 records", "50 records × 6 fields"],
  ["array, 1,000 numbers", "1,000 numbers"],
  ["array, 1,000 strings", "1,000 strings"],
  ["array, 1,000 points", "1,000 objects of 2 numbers"],
  ["array, 1,000 Dates", "1,000 `Date`s"],
  ["object, 1,000 keys", "object of 1,000 keys"],
  ["string, 1,024 ASCII", "string, 1,024 ASCII"],
  ["string, 512 Cyrillic", "string, 512 Cyrillic"],
  ["string, 64 KiB ASCII", "string, 64 KiB ASCII"],
  ["Map, 1,000 entries", "`Map` of 1,000"],
  ["Set, 1,000 entries", "`Set` of 1,000"],
  ["cyclic graph, 20 nodes", "cyclic graph, 20 nodes"],
  ["Error with cause", "error with cause"],
  ["Uint8Array, 1 KiB", "Uint8Array, 1 KiB"],
  ["Uint8Array, 16 KiB", "Uint8Array, 16 KiB"],
  ["Uint8Array, 1 MiB", "Uint8Array, 1 MiB"],
  ["transfer, 1 MiB", "`transfer`, 1 MiB"],
  ["struct, 8 fields", "struct of 8 fields"],
];

function payloads(): string {
  const contenders = ["heddle", "heddle (JSON text)", "postMessage"];
  const results = RUNTIMES.map((runtime) => resultOf(runtime, "types").measurements);
  const rows = PAYLOADS.map(([name, label]) => [
    label,
    ...results.flatMap((measurements) =>
      contenders.map((contender) =>
        figure(
          measurements.find((each) =>
            each.case === name && each.contender === contender && each.size === 100
          )?.perCall,
        )
      )
    ),
  ]);
  const head = RUNTIMES.flatMap((runtime) => {
    return [`${title(runtime)}: heddle`, "JSON text", "postMessage"];
  });
  return table(["µs per call at 100 at once", ...head], `l${"r".repeat(9)}`, rows);
}

export const SUMMARY_TABLES: Readonly<Record<string, () => string>> = {
  "latency": latency,
  "heavy-load": heavyLoad,
  "types": payloads,
};
