/** The tables of docs/benchmarks/shared.md. */
import * as shared from "../scenarios/shared-cases.ts";
import * as page from "./page.ts";

/** Median nanoseconds. */
const of = (runtime: string, contender: string, name: string, size: number): number | undefined =>
  page.measurementOf(page.resultOf(runtime, "shared"), contender, name, size)?.p50;

/** A row for each contender, and in it the case with each size on each runtime. Reasons of what is missing follow. */
function byContender(
  contenders: readonly string[],
  name: string,
  sizes: readonly number[],
  labelOf: (size: number) => string = () => "",
): string {
  const columns = page.RUNTIMES.flatMap((runtime) => sizes.map((size) => ({ runtime, size })));
  const reasons = page.RUNTIMES.flatMap((runtime) =>
    page.resultOf(runtime, "shared").failures.filter((each) => each.case === name)
      .map((each) => page.gapOf(each))
  );
  return page.table(
    [
      "ns, median, by run",
      ...columns.map(({ runtime, size }) => page.title(runtime) + labelOf(size)),
    ],
    contenders.map((contender) => [
      contender,
      ...columns.map(({ runtime, size }) => page.figure(of(runtime, contender, name, size))),
    ]),
  ) + page.after(reasons).replaceAll(/(?<=.)\n(?=.)/g, "\n\n");
}

function maps(): string {
  const rows = page.RUNTIMES.flatMap((runtime) =>
    shared.VALUE_BYTES.map((size) => {
      const get = (contender: string) => of(runtime, contender, shared.GET, size);
      return [
        `${page.title(runtime)}, ${size === shared.NUMBER_BYTES ? "number" : "object of 200 B"}`,
        ...[shared.HEDDLE, shared.CALL, shared.MAP, shared.CLONE].map((contender) =>
          page.figure(get(contender))
        ),
        page.times(get(shared.CALL), get(shared.HEDDLE)),
        ...[shared.HEDDLE, shared.MAP].map((contender) =>
          page.figure(of(runtime, contender, shared.SET, size))
        ),
      ];
    })
  );
  const head = ["SharedMap.get", "hot call", "Map.get", "structuredClone"];
  const more = ["hot call ÷ SharedMap.get", "SharedMap.set", "Map.set"];
  return page.sourced(
    page.resultOf("node", "shared"),
    page.table(["ns, median", ...head, ...more], rows),
  );
}

function rings(): string {
  const rows = page.RUNTIMES.flatMap((runtime) =>
    [shared.CHANNEL_ALONE, shared.CHANNEL].map((name) => {
      const [ours, ring] = [shared.HEDDLE, shared.RING].map((each) =>
        of(runtime, each, name, shared.NUMBER_BYTES)
      );
      return [
        `${page.title(runtime)}, ${name.split(", ")[1]}`,
        page.figure(ours),
        page.figure(ring),
        page.times(ours, ring),
        page.figure(of(runtime, shared.HEDDLE, name, shared.OBJECT_BYTES)),
      ];
    })
  );
  const head = ["channel, number", "raw ring, number", "channel ÷ raw ring"];
  return page.table(["ns for each value, median", ...head, "channel, object of 200 B"], rows);
}

function versions(): string {
  const found = page.resultOf("node", "shared").versions;
  const names = ["Go", "Rust", "crossbeam-channel", "tokio"].filter((name) => name in found);
  return names.map((name) => `${name}: ${found[name]}.`).join(" ");
}

const channels = (name: string) => (): string =>
  byContender(shared.CHANNEL_CONTENDERS, name, [shared.NUMBER_BYTES]);

export const SHARED_TABLES: page.Tables = page.whenMeasured("shared", page.RUNTIMES, {
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
