/** The tables of docs/benchmarks/shared.md. */
import * as shared from "../scenarios/shared-cases.ts";
import {
  after,
  figure,
  gapOf,
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

/** Median nanoseconds. */
const of = (runtime: string, contender: string, name: string, size: number): number | undefined =>
  measurementOf(resultOf(runtime, "shared"), contender, name, size)?.p50;

/** A row for each contender, and in it the case with each size on each runtime. Reasons of what is missing follow. */
function byContender(
  contenders: readonly string[],
  name: string,
  sizes: readonly number[],
  labelOf: (size: number) => string = () => "",
): string {
  const columns = RUNTIMES.flatMap((runtime) => sizes.map((size) => ({ runtime, size })));
  const reasons = RUNTIMES.flatMap((runtime) =>
    resultOf(runtime, "shared").failures.filter((each) => each.case === name)
      .map((each) => gapOf(each))
  );
  return table(
    [
      "ns, median, by run",
      ...columns.map(({ runtime, size }) => title(runtime) + labelOf(size)),
    ],
    contenders.map((contender) => [
      contender,
      ...columns.map(({ runtime, size }) => figure(of(runtime, contender, name, size))),
    ]),
  ) + after(reasons).replaceAll(/(?<=.)\n(?=.)/g, "\n\n");
}

function maps(): string {
  const rows = RUNTIMES.flatMap((runtime) =>
    shared.VALUE_BYTES.map((size) => {
      const get = (contender: string) => of(runtime, contender, shared.GET, size);
      return [
        `${title(runtime)}, ${size === shared.NUMBER_BYTES ? "number" : "object of 200 B"}`,
        ...[shared.HEDDLE, shared.CALL, shared.MAP, shared.CLONE].map((contender) =>
          figure(get(contender))
        ),
        times(get(shared.CALL), get(shared.HEDDLE)),
        ...[shared.HEDDLE, shared.MAP].map((contender) =>
          figure(of(runtime, contender, shared.SET, size))
        ),
      ];
    })
  );
  const head = ["SharedMap.get", "hot call", "Map.get", "structuredClone"];
  const more = ["hot call ÷ SharedMap.get", "SharedMap.set", "Map.set"];
  return sourced(resultOf("node", "shared"), table(["ns, median", ...head, ...more], rows));
}

function rings(): string {
  const rows = RUNTIMES.flatMap((runtime) =>
    [shared.CHANNEL_ALONE, shared.CHANNEL].map((name) => {
      const [ours, ring] = [shared.HEDDLE, shared.RING].map((each) =>
        of(runtime, each, name, shared.NUMBER_BYTES)
      );
      return [
        `${title(runtime)}, ${name.split(", ")[1]}`,
        figure(ours),
        figure(ring),
        times(ours, ring),
        figure(of(runtime, shared.HEDDLE, name, shared.OBJECT_BYTES)),
      ];
    })
  );
  const head = ["channel, number", "raw ring, number", "channel ÷ raw ring"];
  return table(["ns for each value, median", ...head, "channel, object of 200 B"], rows);
}

function versions(): string {
  const found = resultOf("node", "shared").versions;
  const names = ["Go", "Rust", "crossbeam-channel", "tokio"].filter((name) => name in found);
  return names.map((name) => `${name}: ${found[name]}.`).join(" ");
}

const channels = (name: string) => (): string =>
  byContender(shared.CHANNEL_CONTENDERS, name, [shared.NUMBER_BYTES]);

export const SHARED_TABLES: Tables = whenMeasured("shared", RUNTIMES, {
  "shared maps": maps,
  "channels between threads": channels(shared.CHANNEL),
  "channels in one thread": channels(shared.CHANNEL_ALONE),
  "channels and the ring": rings,
  "mutexes": () =>
    byContender(
      shared.MUTEX_CONTENDERS,
      shared.MUTEX,
      shared.LOCKING_THREADS,
      (size) => `: ${size === 1 ? "1 thread" : `${size} threads`}`,
    ),
  "versions": versions,
});
