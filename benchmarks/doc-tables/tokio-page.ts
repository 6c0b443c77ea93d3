/** The tables of docs/benchmarks/tokio.md. */
import { formatBytes } from "../harness/units.ts";
import { figureOf, resultOf, RUNTIMES, table, type Tables, title } from "./page.ts";

const TOKIO = "tokio mpsc + oneshot";
const CONTENDERS = [TOKIO, "crossbeam-channel", "tokio, Arc<Vec<u8>>", "spinning pair"];
const OURS = ["heddle", "heddle, transfer()", "copies alone"];

function numbers(): string {
  const batches = [1, 10, 100, 1000];
  const rows = [
    ["Tokio", TOKIO, resultOf("tokio", "latency")] as const,
    ...RUNTIMES.map((runtime) => [title(runtime), "heddle", resultOf(runtime, "latency")] as const),
  ].map(([name, contender, result]) => [
    `${name} ${result.version}`,
    ...batches.flatMap((size) =>
      (["p50", "p99"] as const).map((key) => figureOf(result, contender, "f64 echo", size, key))
    ),
  ]);
  return table(["f64 echo, µs", ...batches.flatMap((size) => [`${size}: p50`, "p99"])], rows);
}

/** A column for each contender that has figures of the kind. */
function payloads(kind: string): string {
  const columns = [
    ...CONTENDERS.map((contender) => ({ runtime: "tokio", contender, head: contender })),
    ...RUNTIMES.flatMap((runtime) =>
      OURS.map((contender) => ({ runtime, contender, head: `${title(runtime)}: ${contender}` }))
    ),
  ].filter(({ runtime, contender }) =>
    resultOf(runtime, "tokio").measurements
      .some((each) => each.contender === contender && each.case.startsWith(kind))
  );
  const cases = resultOf("tokio", "tokio").measurements.filter((each) =>
    each.contender === TOKIO && each.case.startsWith(kind)
  );
  return table(
    ["µs, p50", ...columns.map(({ head }) => head)],
    cases.map(({ case: name, size }) => [
      `${formatBytes(size)}, ${name.split(", ")[1]}`,
      ...columns.map(({ runtime, contender }) =>
        figureOf(resultOf(runtime, "tokio"), contender, name, size)
      ),
    ]),
  );
}

export const TOKIO_TABLES: Tables = {
  "numbers": numbers,
  "one number": () => payloads("f64"),
  "bytes": () => payloads("bytes"),
  "strings": () => payloads("string"),
};
