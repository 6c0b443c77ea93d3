/** The tables of docs/benchmarks/streams.md. */
import * as streams from "../scenarios/streams-cases.ts";
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

function items(runtime: string): string {
  const result = resultOf(runtime, "streams");
  const contenders = ["heddle", "postMessage", "Readable over a port"];
  const rows = streams.STREAM_KINDS.flatMap((kind) =>
    [streams.resultCase(kind), streams.argumentCase(kind)].map((name) => {
      const all = contenders.map((each) => measurementOf(result, each, name, 1)?.p50);
      return [name, ...all.map(figure), times(all[1], all[0])];
    })
  );
  const head = ["ns for each item, median", ...contenders, "postMessage ÷ heddle"];
  return sourced(result, table(head, rows));
}

const map = (): string =>
  table(
    ["ns for each item", "map", "batches of 1,000 calls", "calls ÷ map"],
    RUNTIMES.map((runtime) => {
      const [ours, calls] = [streams.BY_MAP, streams.BY_CALLS].map((each) =>
        measurementOf(resultOf(runtime, "streams"), each, streams.MAP, 1)?.p50
      );
      return [title(runtime), figure(ours), figure(calls), times(calls, ours)];
    }),
  );

const MARKS = [1, 10, 25, 50, 75, 100];

const memory = (): string =>
  table(
    ["MiB after so many million items", ...MARKS.map(String)],
    RUNTIMES.map((runtime) => [
      title(runtime),
      ...MARKS.map((size) =>
        figureOf(resultOf(runtime, "streams"), streams.MEMORY_CONTENDER, streams.MEMORY_AFTER, size)
      ),
    ]),
  );

export const STREAM_TABLES: Tables = {
  ...Object.assign(
    {},
    ...RUNTIMES.map((runtime) =>
      whenMeasured("streams", [runtime], { [`streams ${runtime}`]: () => items(runtime) })
    ),
  ),
  ...whenMeasured("streams", RUNTIMES, { "map": map, "stream memory": memory }),
};
