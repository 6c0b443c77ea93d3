/** The table of docs/benchmarks/README.md: what the figures are to show, and what they show. */
import { figure, measurementOf, resultOf, RUNTIMES, table, times, title } from "./shared.ts";

const KIB = 1024;
const TOKIO = "tokio mpsc + oneshot";

const row = (label: string, target: string, cell: (runtime: string) => string): string[] => [
  label,
  target,
  ...RUNTIMES.map(cell),
];

/** How many times as long contenders take for one message. */
function ipc(runtime: string): string {
  const result = resultOf(runtime, "ipc");
  const of = (contender: string) => measurementOf(result, contender, "message", 1)?.p50;
  return ["postMessage", "websocket", "HTTP"].map((name) => times(of(name), of("heddle")))
    .join(" / ");
}

function againstPostMessage(scenario: string, name: string, sizes: readonly number[]) {
  return (runtime: string): string => {
    const result = resultOf(runtime, scenario);
    return sizes.map((size) =>
      times(
        measurementOf(result, "postMessage", name, size)?.p50,
        measurementOf(result, "heddle", name, size)?.p50,
      )
    ).join(" / ");
  };
}

const againstTokio = (runtime: string): string =>
  [1, 10, 100, 1000].map((size) =>
    times(
      measurementOf(resultOf("tokio", "latency"), TOKIO, "f64 echo", size)?.p50,
      measurementOf(resultOf(runtime, "latency"), "heddle", "f64 echo", size)?.p50,
    )
  ).join(" / ");

const bytesAgainstTokio = (contender: string) => (runtime: string): string =>
  [KIB, 16 * KIB, 512 * KIB].map((size) =>
    times(
      measurementOf(resultOf("tokio", "tokio"), TOKIO, "bytes, 100 calls", size)?.p50,
      measurementOf(resultOf(runtime, "tokio"), contender, "bytes, 100 calls", size)?.p50,
    )
  ).join(" / ");

/** At 1 MiB, 64 at once. */
const growth = (runtime: string): string => {
  const result = resultOf(runtime, "payload-growth");
  return ["string", "bytes"].map((kind) => {
    const of = (contender: string) =>
      measurementOf(result, contender, `${kind}, 64 calls`, 1024 * KIB)?.gigabytesPerSecond;
    const theirs = of("Knitting");
    return `${figure(of("heddle"))} GB/s${
      theirs === undefined ? "" : ` (${times(of("heddle"), theirs)})`
    }`;
  }).join(" / ");
};

function efficiency(runtime: string): string {
  const one = resultOf(runtime, "heavy-load").measurements
    .find(({ contender }) => contender === "main + 1");
  return one?.ratioToReference === undefined ? "–" : (1 / one.ratioToReference).toFixed(2);
}

function targets(): string {
  const rows = [
    row("one small message (ipc): postMessage / websocket / HTTP take", "10 / 25 / 60 ×", ipc),
    row(
      "f64, 1 / 10 / 100 at once (latency): postMessage takes",
      "20 / 10 / 4 ×",
      againstPostMessage("latency", "f64 echo", [1, 10, 100]),
    ),
    row(
      "small object, 1 / 10 / 100 at once (ipc): postMessage takes",
      "10 / 5 / 3 ×",
      againstPostMessage("ipc", "message", [1, 10, 100]),
    ),
    row(
      "f64, 1 / 10 / 100 / 1000 at once (latency): Tokio takes",
      "10 / 8 / 1.8 / 1.3 ×",
      againstTokio,
    ),
    row(
      "100 Uint8Arrays of 1 / 16 / 512 KiB (tokio): Tokio's copies take",
      "1 ×",
      bytesAgainstTokio("heddle"),
    ),
    row("the same by `transfer()`", "", bytesAgainstTokio("heddle, transfer()")),
    row(
      "1 MiB one way, 64 at once (payload-growth): string / bytes (against Knitting)",
      "1.5 × Knitting",
      growth,
    ),
    row("heavy load, main + 1, against the same split by hand", "0.9", efficiency),
  ];
  return table(["", "to be reached", ...RUNTIMES.map(title)], "lllll", rows);
}

export const OVERVIEW_TABLES: Readonly<Record<string, () => string>> = { "targets": targets };
