/** The tables of docs/benchmarks/streams.md. */
import * as streams from "../scenarios/streams-cases.ts";
import * as page from "./page.ts";

function items(runtime: string): string {
  const result = page.resultOf(runtime, "streams");
  const contenders = ["heddle", "postMessage", "Readable over a port"];
  const rows = streams.STREAM_KINDS.flatMap((kind) =>
    [streams.resultCase(kind), streams.argumentCase(kind)].map((name) => {
      const all = contenders.map((each) => page.measurementOf(result, each, name, 1)?.p50);
      return [name, ...all.map(page.figure), page.times(all[1], all[0])];
    })
  );
  const head = ["ns for each item, median", ...contenders, "postMessage ÷ heddle"];
  return page.sourced(result, page.table(head, rows));
}

const map = (): string =>
  page.table(
    ["ns for each item", "map", "batches of 1,000 calls", "calls ÷ map"],
    page.RUNTIMES.map((runtime) => {
      const [ours, calls] = [streams.BY_MAP, streams.BY_CALLS].map((each) =>
        page.measurementOf(page.resultOf(runtime, "streams"), each, streams.MAP, 1)?.p50
      );
      return [page.title(runtime), page.figure(ours), page.figure(calls), page.times(calls, ours)];
    }),
  );

const MARKS = [1, 10, 25, 50, 75, 100];

const memory = (): string =>
  page.table(
    ["MiB after so many million items", ...MARKS.map(String)],
    page.RUNTIMES.map((runtime) => [
      page.title(runtime),
      ...MARKS.map((size) =>
        page.figureOf(
          page.resultOf(runtime, "streams"),
          streams.MEMORY_CONTENDER,
          streams.MEMORY_AFTER,
          size,
        )
      ),
    ]),
  );

export const STREAM_TABLES: page.Tables = {
  ...Object.assign(
    {},
    ...page.RUNTIMES.map((runtime) =>
      page.whenMeasured("streams", [runtime], { [`streams ${runtime}`]: () => items(runtime) })
    ),
  ),
  ...page.whenMeasured("streams", page.RUNTIMES, { "map": map, "stream memory": memory }),
};
