/** The tables of docs/benchmarks/cold-and-sporadic.md. */
import type { ScenarioResult } from "../harness/schema.ts";
import { formatUs } from "../harness/units.ts";
import {
  caseOf,
  COLD_KINDS,
  type ColdKind,
  FIRST_ANSWER,
  FIRST_CALLS,
  IMPORT,
  MEMORY,
  NEXT_CALLS,
  SECOND_CALL,
  THIRD_CALL,
  WEB_WORKER,
} from "../scenarios/cold-cases.ts";
import {
  AT_ONCE,
  caseOf as contendedCase,
  cpuOf,
  EVERY as EVERY_3_MS,
  NEVER_SPINNING,
  PLACEMENTS,
} from "../scenarios/contended-cases.ts";
import { ADAPTER } from "../scenarios/hot-cases.ts";
import { CPU_OF, EVERY, GAPS_US, NO_CALLS, POISSON, RATES } from "../scenarios/sporadic-cases.ts";
import { cpuOfCalls, startOf } from "./ratios.ts";
import {
  figure,
  measurementOf,
  pairedTimes,
  resultOf,
  RUNTIMES,
  sourceOf,
  table,
  times,
  title,
} from "./shared.ts";

const BARE_WORKER = "bare worker";
const CONTENDERS = ["heddle", BARE_WORKER, "Piscina", "Tinypool", "Knitting"] as const;
/** Node has no web worker. */
const COLD_CONTENDERS = [
  "heddle",
  ADAPTER,
  BARE_WORKER,
  WEB_WORKER,
  ...CONTENDERS.slice(2),
] as const;

const columns = (count: number): string => `l${"r".repeat(count)}`;

/** What has no figure at all, and why. */
function gapsOf({ failures }: ScenarioResult): string {
  const lines = failures.map(({ contender, case: name, reason }) =>
    `Not measured: ${contender}${name === undefined ? "" : `, ${name}`}: ${reason}.`
  );
  return lines.length === 0 ? "" : `\n\n${lines.join("\n")}`;
}

/** A row for each kind of value and contender. */
export function coldTable(runtime: string, kinds: readonly ColdKind[]): string {
  const result = resultOf(runtime, "cold");
  const rows = kinds.flatMap((kind) =>
    COLD_CONTENDERS.filter((name) =>
      name !== WEB_WORKER || result.measurements.some(({ contender }) => contender === name)
    ).map((contender) => {
      const of = (name: string, key: "p50" | "perCall" = "p50") =>
        figure(measurementOf(result, contender, name, 1)?.[key]);
      return [
        `${kind}: ${contender}`,
        of(IMPORT),
        of(caseOf(FIRST_ANSWER, kind)),
        of(caseOf(SECOND_CALL, kind)),
        of(caseOf(THIRD_CALL, kind)),
        of(caseOf(FIRST_CALLS, kind), "perCall"),
        of(caseOf(NEXT_CALLS, kind), "perCall"),
        of(MEMORY),
      ];
    })
  );
  const head = [
    "median",
    "import, ms",
    `${FIRST_ANSWER} after it, ms`,
    `${SECOND_CALL}, µs`,
    `${THIRD_CALL}, µs`,
    `${FIRST_CALLS}, µs each`,
    `${NEXT_CALLS}, µs each`,
    `${MEMORY}, MiB`,
  ];
  return `${table(head, columns(head.length - 1), rows)}${gapsOf(result)}`;
}

const cold = (runtime: string): string =>
  `${sourceOf(resultOf(runtime, "cold"))}\n\n${coldTable(runtime, COLD_KINDS)}`;

/** Rows of a table with a column for each contender. */
function byContender(
  result: ScenarioResult,
  head: string,
  rows: readonly { label: string; case: string; size: number }[],
  contenders: readonly string[],
  cell: (measurement: NonNullable<ReturnType<typeof measurementOf>>) => string,
): string {
  return table(
    [head, ...contenders],
    columns(contenders.length),
    rows.map(({ label, case: name, size }) => [
      label,
      ...contenders.map((contender) => {
        const found = measurementOf(result, contender, name, size);
        return found === undefined ? "–" : cell(found);
      }),
    ]),
  );
}

const PACES = [
  ...GAPS_US.map((size) => ({ label: `every ${formatUs(size)}`, case: EVERY as string, size })),
  ...RATES.map((size) => ({ label: `${size} a second`, case: POISSON as string, size })),
];

const percentiles = (
  { p50, p99, p999 }: { readonly p50: number; readonly p99: number; readonly p999?: number },
): string => `${figure(p50)} / ${figure(p99)} / ${figure(p999)}`;

function sporadic(runtime: string): string {
  const result = resultOf(runtime, "sporadic");
  const cpu = PACES.map((pace) => ({ ...pace, case: CPU_OF[pace.case]! }));
  return [
    sourceOf(result),
    byContender(result, "µs, p50 / p99 / p99.9", PACES, CONTENDERS, percentiles),
    byContender(
      result,
      "processor time, µs a call, median of blocks",
      cpu,
      [...CONTENDERS, NO_CALLS],
      ({ p50 }) => figure(p50),
    ),
  ].join("\n\n") + gapsOf(result);
}

const ALL_LOADS = PLACEMENTS.flatMap((placement) => [
  { label: `${placement}: one at a time`, case: contendedCase(placement, AT_ONCE), size: 1 },
  { label: `${placement}: 20 at once`, case: contendedCase(placement, AT_ONCE), size: 20 },
  { label: `${placement}: every 3 ms`, case: contendedCase(placement, EVERY_3_MS), size: 1 },
]);

/** A machine may refuse some of them. */
const loadsOf = ({ measurements }: ScenarioResult) =>
  ALL_LOADS.filter((load) => measurements.some((each) => each.case === load.case));

/** heddle's other setting beside it, where it was measured. */
const contendersOf = ({ measurements }: ScenarioResult): readonly string[] =>
  measurements.some(({ contender }) => contender === NEVER_SPINNING)
    ? CONTENDERS.flatMap((name) => name === "heddle" ? [name, NEVER_SPINNING] : [name])
    : CONTENDERS;

function contended(runtime: string): string {
  const result = resultOf(runtime, "contended");
  const loads = loadsOf(result);
  const cpu = loads.map((load) => ({ ...load, case: cpuOf(load.case) }));
  const contenders = contendersOf(result);
  return [
    sourceOf(result),
    byContender(result, "µs, p50 / p99 / p99.9", loads, contenders, percentiles),
    // Medians do not say whether spinning pays.
    ...(contenders.includes(NEVER_SPINNING)
      ? [byContender(result, "mean, µs", loads, contenders, ({ mean }) => figure(mean))]
      : []),
    byContender(
      result,
      "processor time, µs a call, median of blocks",
      cpu,
      contenders,
      ({ p50 }) => figure(p50),
    ),
  ].join("\n\n") + gapsOf(result);
}

/**
 * heddle's figure, and how many times the bare worker's that is. Medians have the ratio of neighbours in time with its 95 % interval, bold
 * where all of it is above 1; tails have the quotient, bold where it is above 1.
 */
function against(
  label: string,
  scenario: string,
  name: string,
  size: number,
  key: "p50" | "p99" | "perCall",
): string[] {
  return [
    label,
    ...RUNTIMES.map((runtime) => {
      const result = resultOf(runtime, scenario);
      const own = measurementOf(result, "heddle", name, size);
      const ours = own?.[key];
      const theirs = measurementOf(result, BARE_WORKER, name, size)?.[key];
      if (ours === undefined || theirs === undefined) return "–";
      const paired = key === "p99" ? undefined : own?.paired;
      const text = paired === undefined ? times(ours, theirs) : pairedTimes(paired);
      const isMore = (paired?.low ?? ours / theirs) > 1;
      return `${figure(ours)} (${isMore ? `**${text}**` : text})`;
    }),
  ];
}

/** The same for figures that follow from several, of heddle and of the bare worker: the quotient. */
function derived(
  label: string,
  figureOf: (runtime: string, contender: string) => number,
): string[] {
  return [
    label,
    ...RUNTIMES.map((runtime) => {
      const [ours, theirs] = [figureOf(runtime, "heddle"), figureOf(runtime, BARE_WORKER)];
      const text = times(ours, theirs);
      return `${figure(ours)} (${ours > theirs ? `**${text}**` : text})`;
    }),
  ];
}

/** Means and processor time, of results that have both settings of heddle. */
function meanRows(label: string, name: string, size: number): string[][] {
  if (!RUNTIMES.every((runtime) => contendersOf(resultOf(runtime, "contended")) !== CONTENDERS)) {
    return [];
  }
  const of = (what: string, key: "mean" | "p50") => (runtime: string, contender: string): number =>
    measurementOf(resultOf(runtime, "contended"), contender, what, size)?.[key] ?? NaN;
  return [
    derived(`${label}: mean, µs`, of(name, "mean")),
    derived(`${label}: processor time, µs`, of(cpuOf(name), "p50")),
  ];
}

function overview(): string {
  const kinds: readonly ColdKind[] = ["number", "object, 200 B"];
  const rows = [
    ...kinds.flatMap((kind) => [
      derived(
        `import and ${FIRST_ANSWER}, ${kind}, ms`,
        (runtime, contender) => startOf(runtime, contender, kind),
      ),
      against(
        `${FIRST_ANSWER} after the import, ${kind}, ms`,
        "cold",
        caseOf(FIRST_ANSWER, kind),
        1,
        "p50",
      ),
      against(`${SECOND_CALL}, ${kind}, µs`, "cold", caseOf(SECOND_CALL, kind), 1, "p50"),
      against(`${FIRST_CALLS}, ${kind}, µs each`, "cold", caseOf(FIRST_CALLS, kind), 1, "perCall"),
      against(`${NEXT_CALLS}, ${kind}, µs each`, "cold", caseOf(NEXT_CALLS, kind), 1, "perCall"),
    ]),
    against(`${MEMORY}, MiB`, "cold", MEMORY, 1, "p50"),
    ...PACES.flatMap(({ label, case: name, size }) => [
      against(`${label}: p50, µs`, "sporadic", name, size, "p50"),
      against(`${label}: p99, µs`, "sporadic", name, size, "p99"),
      derived(
        `${label}: processor time, µs`,
        (runtime, contender) => cpuOfCalls(runtime, contender, name, size),
      ),
    ]),
    ...loadsOf(resultOf("node", "contended")).flatMap(({ label, case: name, size }) => [
      against(`${label}: p50, µs`, "contended", name, size, "p50"),
      ...meanRows(label, name, size),
      against(`${label}: p99, µs`, "contended", name, size, "p99"),
    ]),
  ];
  return table(["heddle (× bare worker)", ...RUNTIMES.map(title)], columns(3), rows);
}

/** By name of the table. */
export const COLD_TABLES: Readonly<Record<string, () => string>> = {
  "overview": overview,
  ...Object.fromEntries(
    RUNTIMES.flatMap((runtime) =>
      Object.entries({ cold, sporadic, contended }).map(([name, create]) => [
        `${name} on ${title(runtime)}`,
        () => create(runtime),
      ])
    ),
  ),
};
