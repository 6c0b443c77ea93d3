/** The tables of docs/benchmarks/streams.md. */
import {
  argumentCase,
  BY_CALLS,
  BY_MAP,
  MAP,
  MEMORY_AFTER,
  MEMORY_CONTENDER,
  resultCase,
  STREAM_KINDS,
} from "../scenarios/streams-cases.ts";
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
const isMeasured = (): boolean => RUNTIMES.every((runtime) => hasResult(runtime, "streams"));

function items(runtime: string): string {
  if (!hasResult(runtime, "streams")) return NOT_MEASURED;
  const result = resultOf(runtime, "streams");
  const rows = STREAM_KINDS.flatMap((kind) =>
    [resultCase(kind), argumentCase(kind)].map((name) => {
      const of = (contender: string) => measurementOf(result, contender, name, 1)?.p50;
      const heddle = of("heddle");
      return [
        name,
        figure(heddle),
        figure(of("postMessage")),
        figure(of("Readable over a port")),
        times(of("postMessage"), heddle),
      ];
    })
  );
  const head = [
    "ns for each item, median",
    "heddle",
    "postMessage",
    "Readable over a port",
    "postMessage ÷ heddle",
  ];
  return `${sourceOf(result)}\n\n${table(head, "lrrrr", rows)}`;
}

function mapTable(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const rows = RUNTIMES.map((runtime) => {
    const result = resultOf(runtime, "streams");
    const of = (contender: string) => measurementOf(result, contender, MAP, 1)?.p50;
    return [
      title(runtime),
      figure(of(BY_MAP)),
      figure(of(BY_CALLS)),
      times(of(BY_CALLS), of(BY_MAP)),
    ];
  });
  return table(["ns for each item", "map", "batches of 1,000 calls", "calls ÷ map"], "lrrr", rows);
}

const MARKS = [1, 10, 25, 50, 75, 100];

function memoryTable(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const rows = RUNTIMES.map((runtime) => {
    const result = resultOf(runtime, "streams");
    const of = (size: number) =>
      figure(measurementOf(result, MEMORY_CONTENDER, MEMORY_AFTER, size)?.p50);
    return [title(runtime), ...MARKS.map(of)];
  });
  const head = ["MiB after so many million items", ...MARKS.map(String)];
  return table(head, `l${"r".repeat(MARKS.length)}`, rows);
}

export const STREAM_TABLES: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(RUNTIMES.map((runtime) => [`streams ${runtime}`, () => items(runtime)])),
  "map": mapTable,
  "stream memory": memoryTable,
};
