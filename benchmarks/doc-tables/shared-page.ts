/** The tables of docs/benchmarks/shared.md. */
import {
  CALL,
  CHANNEL,
  CHANNEL_ALONE,
  CHANNEL_CONTENDERS,
  CLONE,
  GET,
  HEDDLE,
  LOCKING_THREADS,
  MAP,
  MUTEX,
  MUTEX_CONTENDERS,
  NUMBER_BYTES,
  OBJECT_BYTES,
  RING,
  SET,
  VALUE_BYTES,
} from "../scenarios/shared-cases.ts";
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
const isMeasured = (): boolean => RUNTIMES.every((runtime) => hasResult(runtime, "shared"));
const valueOf = (size: number): string => size === NUMBER_BYTES ? "number" : "object of 200 B";

/** Median nanoseconds. */
const of = (runtime: string, contender: string, name: string, size: number): number | undefined =>
  measurementOf(resultOf(runtime, "shared"), contender, name, size)?.p50;

/** A row for each contender, and in it each of `cases` on each runtime. Reasons of what is missing follow. */
function byContender(
  contenders: readonly string[],
  cases: readonly { readonly label?: string; readonly case: string; readonly size: number }[],
): string {
  const columns = RUNTIMES.flatMap((runtime) => cases.map((each) => ({ runtime, ...each })));
  const rows = contenders.map((contender) => [
    contender,
    ...columns.map((each) => figure(of(each.runtime, contender, each.case, each.size))),
  ]);
  const head = columns.map(({ runtime, label }) =>
    label === undefined ? title(runtime) : `${title(runtime)}: ${label}`
  );
  const names = cases.map((each) => each.case);
  const reasons = RUNTIMES.flatMap((runtime) =>
    resultOf(runtime, "shared").failures.filter((each) => names.includes(each.case ?? ""))
      .map(({ contender, reason }) => `Not measured: ${contender}: ${reason}.`)
  );
  return [
    table(["ns, median, by run", ...head], `l${"r".repeat(head.length)}`, rows),
    ...new Set(reasons),
  ].join("\n\n");
}

function maps(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const rows = RUNTIMES.flatMap((runtime) =>
    VALUE_BYTES.map((size) => {
      const get = (contender: string) => of(runtime, contender, GET, size);
      return [
        `${title(runtime)}, ${valueOf(size)}`,
        ...[HEDDLE, CALL, MAP, CLONE].map((contender) => figure(get(contender))),
        times(get(CALL), get(HEDDLE)),
        ...[HEDDLE, MAP].map((contender) => figure(of(runtime, contender, SET, size))),
      ];
    })
  );
  const head = [
    "ns, median",
    "SharedMap.get",
    "hot call",
    "Map.get",
    "structuredClone",
    "hot call ÷ SharedMap.get",
    "SharedMap.set",
    "Map.set",
  ];
  return `${sourceOf(resultOf("node", "shared"))}\n\n${table(head, "lrrrrrrr", rows)}`;
}

function channels(name: string): string {
  if (!isMeasured()) return NOT_MEASURED;
  return byContender(CHANNEL_CONTENDERS, [{ case: name, size: NUMBER_BYTES }]);
}

function rings(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const rows = RUNTIMES.flatMap((runtime) =>
    [CHANNEL_ALONE, CHANNEL].map((name) => {
      const [ours, ring] = [HEDDLE, RING].map((each) => of(runtime, each, name, NUMBER_BYTES));
      return [
        `${title(runtime)}, ${name.split(", ")[1]}`,
        figure(ours),
        figure(ring),
        times(ours, ring),
        figure(of(runtime, HEDDLE, name, OBJECT_BYTES)),
      ];
    })
  );
  const head = [
    "ns for each value, median",
    "channel, number",
    "raw ring, number",
    "channel ÷ raw ring",
    "channel, object of 200 B",
  ];
  return table(head, "lrrrr", rows);
}

function mutexes(): string {
  if (!isMeasured()) return NOT_MEASURED;
  return byContender(
    MUTEX_CONTENDERS,
    LOCKING_THREADS.map((size) => ({
      label: size === 1 ? "1 thread" : `${size} threads`,
      case: MUTEX,
      size,
    })),
  );
}

function versions(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const found = resultOf("node", "shared").versions;
  const names = ["Go", "Rust", "crossbeam-channel", "tokio"].filter((name) => name in found);
  return names.map((name) => `${name}: ${found[name]}.`).join(" ");
}

export const SHARED_TABLES: Readonly<Record<string, () => string>> = {
  "shared maps": maps,
  "channels between threads": () => channels(CHANNEL),
  "channels in one thread": () => channels(CHANNEL_ALONE),
  "channels and the ring": rings,
  "mutexes": mutexes,
  "versions": versions,
};
