/** The tables of docs/benchmarks/tokio.md. */
import { formatBytes } from "../harness/units.ts";
import { figure, measurementOf, resultOf, RUNTIMES, table, title } from "./shared.ts";

const TOKIO = "tokio mpsc + oneshot";
const CONTENDERS = [TOKIO, "crossbeam-channel", "tokio, Arc<Vec<u8>>", "spinning pair"];

function numbers(): string {
  const batches = [1, 10, 100, 1000];
  const rows = [
    ["Tokio", TOKIO, resultOf("tokio", "latency")] as const,
    ...RUNTIMES.map((runtime) => [title(runtime), "heddle", resultOf(runtime, "latency")] as const),
  ].map(([name, contender, result]) => [
    `${name} ${result.version}`,
    ...batches.flatMap((size) => {
      const found = measurementOf(result, contender, "f64 echo", size);
      return [figure(found?.p50), figure(found?.p99)];
    }),
  ]);
  const head = batches.flatMap((size) => [`${size}: p50`, "p99"]);
  return table(["f64 echo, µs", ...head], "lrrrrrrrr", rows);
}

function payloads(kind: string): string {
  const native = resultOf("tokio", "tokio");
  const ours = ["heddle", "heddle, transfer()", "copies alone"];
  const cases = native.measurements.filter((each) =>
    each.contender === TOKIO && each.case.startsWith(kind)
  );
  const isMeasured = (contender: string): boolean =>
    native.measurements.some((each) => each.contender === contender && each.case.startsWith(kind));
  const natives = CONTENDERS.filter(isMeasured);
  const scripts = RUNTIMES.flatMap((runtime) =>
    ours.filter((contender) =>
      resultOf(runtime, "tokio").measurements
        .some((each) => each.contender === contender && each.case.startsWith(kind))
    ).map((contender) => ({ runtime, contender }))
  );
  const rows = cases.map(({ case: name, size }) => [
    `${formatBytes(size)}, ${name.split(", ")[1]}`,
    ...natives.map((contender) => figure(measurementOf(native, contender, name, size)?.p50)),
    ...scripts.map(({ runtime, contender }) =>
      figure(measurementOf(resultOf(runtime, "tokio"), contender, name, size)?.p50)
    ),
  ]);
  const head = [
    ...natives,
    ...scripts.map(({ runtime, contender }) => `${title(runtime)}: ${contender}`),
  ];
  return table(["µs, p50", ...head], `l${"r".repeat(head.length)}`, rows);
}

export const TOKIO_TABLES: Readonly<Record<string, () => string>> = {
  "numbers": numbers,
  "one number": () => payloads("f64"),
  "bytes": () => payloads("bytes"),
  "strings": () => payloads("string"),
};
