/** The tables of docs/when-workers-pay.md, and the comparison of the site's first page. */
import { caseOf, FIRST_ANSWER, SECOND_CALL } from "../scenarios/cold-cases.ts";
import { OBJECT as HOT_OBJECT } from "../scenarios/hot-cases.ts";
import { EVERY } from "../scenarios/sporadic-cases.ts";
import * as page from "./page.ts";

type Key = "p50" | "perCall";

interface Row {
  readonly label: string;
  readonly unit: string;
  readonly scenario: string;
  readonly case: string;
  readonly size: number;
  readonly key?: Key;
}

const OBJECT = "object, 200 B";

const valueOf = (runtime: string, contender: string, row: Row): number | undefined =>
  page.measurementOf(page.resultOf(runtime, row.scenario), contender, row.case, row.size)
    ?.[row.key ?? "p50"];

const hot = (size: number, label: string): Row => ({
  label,
  unit: "µs",
  scenario: "hot",
  case: HOT_OBJECT,
  size,
});

const paced = (gapUs: number): Row => ({
  label: `one number every ${gapUs / 1000} ms`,
  unit: "µs",
  scenario: "sporadic",
  case: EVERY,
  size: gapUs,
});

const payload = (label: string, name: string): Row => ({
  label: `100 calls at once, ${label}, per call`,
  unit: "µs",
  scenario: "types",
  case: name,
  size: 100,
  key: "perCall",
});

const cold = (step: string, label: string, unit: string): Row => ({
  label,
  unit,
  scenario: "cold",
  case: caseOf(step, OBJECT),
  size: 1,
});

const COSTS: readonly Row[] = [
  hot(1, "an object of 200 B, one call after the other"),
  payload("object of 200 B", OBJECT),
  payload("50 records of 6 fields", "array, 50 records"),
  payload("1 MiB of bytes, copied", "Uint8Array, 1 MiB"),
  payload("1 MiB of bytes, moved", "transfer, 1 MiB"),
  paced(1000),
  paced(10_000),
  cold(FIRST_ANSWER, "start of the pool until the first answer", "ms"),
  cold(SECOND_CALL, "second call of the program, object of 200 B", "µs"),
];

const costs = (): string =>
  page.table(
    ["median round trip", ...page.TITLES],
    COSTS.map((row) =>
      page.byRuntime(row.label, (runtime) =>
        `${page.figure(valueOf(runtime, "heddle", row))} ${row.unit}`)
    ),
  );

const speedUps = (): string =>
  page.table(
    ["all primes up to 10,000,000", ...page.TITLES],
    [["main thread alone", "main alone"], ["main thread and one worker", "main + 1"]].map((
      [label = "", contender],
    ) =>
      page.byRuntime(label, (runtime) => {
        const { p50 = 0, speedUp = 1 } = page.resultOf(runtime, "heavy-load").measurements
          .find((each) => each.contender === contender) ?? {};
        return `${p50.toFixed(0)} ms${
          contender === "main alone" ? "" : ` (${speedUp.toFixed(2)} × as fast)`
        }`;
      })
    ),
  );

const COMPARED: readonly Row[] = [
  hot(1, "hot: one small object"),
  hot(100, "hot: 100 small objects at once"),
  { ...paced(10_000), label: "sporadic: a number every 10 ms" },
  cold(FIRST_ANSWER, "cold: until the first answer", "ms"),
];

/** Figures of Node, and how many times heddle's the others are. */
function comparison(): string {
  const others = ["bare worker", "Piscina", "Tinypool"];
  const rows = COMPARED.map((row) => {
    const ours = valueOf("node", "heddle", row);
    return [
      row.label,
      `${page.figure(ours)} ${row.unit}`,
      ...others.map((contender) => {
        const theirs = valueOf("node", contender, row);
        return theirs === undefined
          ? "–"
          : `${page.figure(theirs)} ${row.unit} (${page.times(theirs, ours)})`;
      }),
    ];
  });
  return page.table(["Node, median", "heddle", ...others], rows);
}

export const COST_TABLES: page.Tables = { "cost of a call": costs, "speed-up": speedUps };

export const HOME_TABLES: page.Tables = { "comparison": comparison };
