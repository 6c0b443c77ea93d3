/** The tables of docs/benchmarks/README.md: latency, heavy load, payloads, and what the figures are to show. */
import type { ScenarioResult } from "../harness/schema.ts";
import * as page from "./page.ts";

const KIB = 1024;
const TOKIO = "tokio mpsc + oneshot";
const BATCHES = [1, 10, 100, 1000];

function latency(): string {
  const echoes = (result: ScenarioResult, contender: string): string[] =>
    BATCHES.map((size) => page.figureOf(result, contender, "f64 echo", size));
  const rows = page.RUNTIMES.flatMap((runtime) => {
    const result = page.resultOf(runtime, "latency");
    return ["heddle", "raw ring floor", "postMessage", "Piscina"].map((contender) => [
      `${runtime} ${result.version}`,
      contender,
      ...echoes(result, contender),
    ]);
  });
  const tokio = page.resultOf("tokio", "latency");
  const last = ["Rust", `Tokio ${tokio.version}, mpsc + oneshot`, ...echoes(tokio, TOKIO)];
  return page.table(["", "", "1 call", "10", "100", "1000"], [...rows, last], 2);
}

function heavyLoad(): string {
  const rows = page.RUNTIMES.map((runtime) => {
    const { version, measurements } = page.resultOf(runtime, "heavy-load");
    const of = (name: string) => measurements.find(({ contender }) => contender === name)!;
    const one = of("main + 1");
    return [
      `${runtime} ${version}`,
      `${of("main alone").p50.toFixed(0)} ms`,
      `${one.p50.toFixed(0)} ms`,
      one.speedUp!.toFixed(2),
      page.percent(one.efficiency),
      `${of("main + 1, by hand").p50.toFixed(0)} ms`,
    ];
  });
  const head = ["", "main thread alone", "main + 1 worker", "speed-up", "efficiency"];
  return page.table([...head, "worker_threads by hand"], rows);
}

/** Kinds of payload, and their labels where those differ. */
const PAYLOADS: Readonly<Record<string, string>> = {
  "object, 200 B": "object of 200 B",
  "array, 50 records": "50 records × 6 fields",
  "array, 1,000 numbers": "1,000 numbers",
  "array, 1,000 strings": "1,000 strings",
  "array, 1,000 points": "1,000 objects of 2 numbers",
  "array, 1,000 Dates": "1,000 `Date`s",
  "object, 1,000 keys": "object of 1,000 keys",
  "string, 1,024 ASCII": "",
  "string, 512 Cyrillic": "",
  "string, 64 KiB ASCII": "",
  "Map, 1,000 entries": "`Map` of 1,000",
  "Set, 1,000 entries": "`Set` of 1,000",
  "cyclic graph, 20 nodes": "",
  "Error with cause": "error with cause",
  "Uint8Array, 1 KiB": "",
  "Uint8Array, 16 KiB": "",
  "Uint8Array, 1 MiB": "",
  "transfer, 1 MiB": "`transfer`, 1 MiB",
  "struct, 8 fields": "struct of 8 fields",
};

function payloads(): string {
  const contenders = ["heddle", "heddle (JSON text)", "postMessage"];
  const rows = Object.entries(PAYLOADS).map(([name, label]) => [
    label || name,
    ...page.RUNTIMES.flatMap((runtime) =>
      contenders.map((contender) =>
        page.figureOf(page.resultOf(runtime, "types"), contender, name, 100, "perCall")
      )
    ),
  ]);
  const head = page.TITLES.flatMap((name) => [`${name}: heddle`, "JSON text", "postMessage"]);
  return page.table(["µs per call at 100 at once", ...head], rows);
}

type Place = readonly [runtime: string, scenario: string, contender: string];

/** How many times as long one takes as the other, at each size. */
const quotients = (
  of: Place,
  ours: Place,
  name: string,
  sizes: readonly number[],
): string =>
  sizes.map((size) => {
    const p50 = ([runtime, scenario, contender]: Place): number | undefined =>
      page.measurementOf(page.resultOf(runtime, scenario), contender, name, size)?.p50;
    return page.times(p50(of), p50(ours));
  }).join(" / ");

const againstPostMessage = (scenario: string, name: string) => (runtime: string): string =>
  quotients(
    [runtime, scenario, "postMessage"],
    [runtime, scenario, "heddle"],
    name,
    [1, 10, 100],
  );

const bytesAgainstTokio = (contender: string) => (runtime: string): string =>
  quotients(
    ["tokio", "tokio", TOKIO],
    [runtime, "tokio", contender],
    "bytes, 100 calls",
    [KIB, 16 * KIB, 512 * KIB],
  );

/** At 1 MiB, 64 at once. */
const growth = (runtime: string): string =>
  ["string", "bytes"].map((kind) => {
    const of = (contender: string): number | undefined =>
      page.measurementOf(
        page.resultOf(runtime, "payload-growth"),
        contender,
        `${kind}, 64 calls`,
        1024 * KIB,
      )?.gigabytesPerSecond;
    const [ours, theirs] = [of("heddle"), of("Knitting")];
    return `${page.figure(ours)} GB/s${
      theirs === undefined ? "" : ` (${page.times(ours, theirs)})`
    }`;
  }).join(" / ");

function efficiency(runtime: string): string {
  const one = page.resultOf(runtime, "heavy-load").measurements
    .find(({ contender }) => contender === "main + 1");
  return one?.ratioToReference === undefined ? "–" : (1 / one.ratioToReference).toFixed(2);
}

/** What is compared, what is to be reached, and what is. */
const TARGETS: readonly (readonly [string, string, (runtime: string) => string])[] = [
  [
    "one small message (ipc): postMessage / websocket / HTTP take",
    "10 / 25 / 60 ×",
    (runtime) =>
      ["postMessage", "websocket", "HTTP"].map((contender) =>
        quotients([runtime, "ipc", contender], [runtime, "ipc", "heddle"], "message", [1])
      ).join(" / "),
  ],
  [
    "f64, 1 / 10 / 100 at once (latency): postMessage takes",
    "20 / 10 / 4 ×",
    againstPostMessage("latency", "f64 echo"),
  ],
  [
    "small object, 1 / 10 / 100 at once (ipc): postMessage takes",
    "10 / 5 / 3 ×",
    againstPostMessage("ipc", "message"),
  ],
  [
    "f64, 1 / 10 / 100 / 1000 at once (latency): Tokio takes",
    "10 / 8 / 1.8 / 1.3 ×",
    (runtime) =>
      quotients(["tokio", "latency", TOKIO], [runtime, "latency", "heddle"], "f64 echo", BATCHES),
  ],
  [
    "100 Uint8Arrays of 1 / 16 / 512 KiB (tokio): Tokio's copies take",
    "1 ×",
    bytesAgainstTokio("heddle"),
  ],
  ["the same by `transfer()`", "", bytesAgainstTokio("heddle, transfer()")],
  [
    "1 MiB one way, 64 at once (payload-growth): string / bytes (against Knitting)",
    "1.5 × Knitting",
    growth,
  ],
  ["heavy load, main + 1, against the same split by hand", "0.9", efficiency],
];

const targets = (): string =>
  page.table(
    ["", "to be reached", ...page.TITLES],
    TARGETS.map(([label, target, cell]) => page.byRuntime([label, target], cell)),
    5,
  );

export const OVERVIEW_TABLES: page.Tables = {
  "latency": latency,
  "heavy-load": heavyLoad,
  "types": payloads,
  "targets": targets,
};
