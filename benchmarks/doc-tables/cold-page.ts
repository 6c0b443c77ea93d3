/** The tables of docs/benchmarks/cold-and-sporadic.md. */
import type { Measurement, ScenarioResult } from "../harness/schema.ts";
import { formatUs } from "../harness/units.ts";
import * as coldCases from "../scenarios/cold-cases.ts";
import * as contendedCases from "../scenarios/contended-cases.ts";
import { ADAPTER } from "../scenarios/hot-cases.ts";
import { CPU_OF, EVERY, GAPS_US, NO_CALLS, POISSON, RATES } from "../scenarios/sporadic-cases.ts";
import { cpuOfCalls, startOf } from "./ratios.ts";
import * as page from "./page.ts";

const BARE_WORKER = "bare worker";
const CONTENDERS = ["heddle", BARE_WORKER, "Piscina", "Tinypool", "Knitting"] as const;
/** Node has no web worker. */
const COLD_CONTENDERS = [
  "heddle",
  ADAPTER,
  BARE_WORKER,
  coldCases.WEB_WORKER,
  ...CONTENDERS.slice(2),
] as const;

/** A table, and what has no figure at all. */
const withGaps = ({ failures }: ScenarioResult, ...parts: readonly string[]): string =>
  parts.join("\n\n") + page.after(failures.map((each) => page.gapOf(each, each.case)));

/** Steps, and how they are written in a head. */
const STEPS = {
  [coldCases.FIRST_ANSWER]: "after it, ms",
  [coldCases.SECOND_CALL]: "µs",
  [coldCases.THIRD_CALL]: "µs",
  [coldCases.FIRST_CALLS]: "µs each",
  [coldCases.NEXT_CALLS]: "µs each",
};

/** A row for each kind of value and contender. */
export function coldTable(result: ScenarioResult, kinds: readonly coldCases.ColdKind[]): string {
  const contenders = COLD_CONTENDERS.filter((name) =>
    name !== coldCases.WEB_WORKER || result.measurements.some(({ contender }) => contender === name)
  );
  const rows = kinds.flatMap((kind) =>
    contenders.map((contender) => {
      const of = (name: string, key: "p50" | "perCall" = "p50") =>
        page.figure(page.measurementOf(result, contender, name, 1)?.[key]);
      return [
        `${kind}: ${contender}`,
        of(coldCases.IMPORT),
        ...Object.entries(STEPS).map(([step, unit]) =>
          of(coldCases.caseOf(step, kind), unit.endsWith("each") ? "perCall" : "p50")
        ),
        of(coldCases.MEMORY),
      ];
    })
  );
  const head = Object.entries(STEPS).map(([step, unit]) =>
    unit.startsWith("after") ? `${step} ${unit}` : `${step}, ${unit}`
  );
  return withGaps(
    result,
    page.table(["median", "import, ms", ...head, `${coldCases.MEMORY}, MiB`], rows),
  );
}

/** Rows of a table with a column for each contender. */
const byContender = (
  result: ScenarioResult,
  head: string,
  rows: readonly { label: string; case: string; size: number }[],
  contenders: readonly string[],
  cell: (measurement: Measurement) => string,
): string =>
  page.table(
    [head, ...contenders],
    rows.map(({ label, case: name, size }) => [
      label,
      ...contenders.map((contender) => {
        const found = page.measurementOf(result, contender, name, size);
        return found === undefined ? "–" : cell(found);
      }),
    ]),
  );

const PACES = [
  ...GAPS_US.map((size) => ({ label: `every ${formatUs(size)}`, case: EVERY as string, size })),
  ...RATES.map((size) => ({ label: `${size} a second`, case: POISSON as string, size })),
];

const PERCENTILES = "µs, p50 / p99 / p99.9";
const percentiles = ({ p50, p99, p999 }: Measurement): string =>
  `${page.figure(p50)} / ${page.figure(p99)} / ${page.figure(p999)}`;
const CPU = "processor time, µs a call, median of blocks";
const median = ({ p50 }: Measurement): string => page.figure(p50);

function sporadic(result: ScenarioResult): string {
  const cpu = PACES.map((pace) => ({ ...pace, case: CPU_OF[pace.case]! }));
  return withGaps(
    result,
    byContender(result, PERCENTILES, PACES, CONTENDERS, percentiles),
    byContender(result, CPU, cpu, [...CONTENDERS, NO_CALLS], median),
  );
}

const ALL_LOADS = contendedCases.PLACEMENTS.flatMap((placement) => [
  {
    label: `${placement}: one at a time`,
    case: contendedCases.caseOf(placement, contendedCases.AT_ONCE),
    size: 1,
  },
  {
    label: `${placement}: 20 at once`,
    case: contendedCases.caseOf(placement, contendedCases.AT_ONCE),
    size: 20,
  },
  {
    label: `${placement}: every 3 ms`,
    case: contendedCases.caseOf(placement, contendedCases.EVERY),
    size: 1,
  },
]);

/** A machine may refuse some of them. */
const loadsOf = ({ measurements }: ScenarioResult) =>
  ALL_LOADS.filter((load) => measurements.some((each) => each.case === load.case));

/** heddle's other setting beside it, where it was measured. */
const contendersOf = ({ measurements }: ScenarioResult): readonly string[] =>
  measurements.some(({ contender }) => contender === contendedCases.NEVER_SPINNING)
    ? CONTENDERS.flatMap((name) =>
      name === "heddle" ? [name, contendedCases.NEVER_SPINNING] : [name]
    )
    : CONTENDERS;

function contended(result: ScenarioResult): string {
  const loads = loadsOf(result);
  const cpu = loads.map((load) => ({ ...load, case: contendedCases.cpuOf(load.case) }));
  const contenders = contendersOf(result);
  return withGaps(
    result,
    byContender(result, PERCENTILES, loads, contenders, percentiles),
    // Medians do not say whether spinning pays.
    ...(contenders.includes(contendedCases.NEVER_SPINNING)
      ? [byContender(result, "mean, µs", loads, contenders, ({ mean }) => page.figure(mean))]
      : []),
    byContender(result, CPU, cpu, contenders, median),
  );
}

/**
 * heddle's figure, and how many times the bare worker's that is. Medians have the ratio of neighbours in time with its 95 % interval, bold
 * where all of it is above 1; tails have the quotient, bold where it is above 1.
 */
const against = (
  label: string,
  scenario: string,
  name: string,
  size: number,
  key: "p50" | "p99" | "perCall",
): string[] =>
  page.byRuntime(label, (runtime) => {
    const result = page.resultOf(runtime, scenario);
    const own = page.measurementOf(result, "heddle", name, size);
    const ours = own?.[key];
    const theirs = page.measurementOf(result, BARE_WORKER, name, size)?.[key];
    if (ours === undefined || theirs === undefined) return "–";
    const paired = key === "p99" ? undefined : own?.paired;
    const text = paired === undefined ? page.times(ours, theirs) : page.pairedTimes(paired);
    const isMore = (paired?.low ?? ours / theirs) > 1;
    return `${page.figure(ours)} (${isMore ? `**${text}**` : text})`;
  });

/** The same for figures that follow from several, of heddle and of the bare worker: the quotient. */
const derived = (
  label: string,
  figureOf: (runtime: string, contender: string) => number,
): string[] =>
  page.byRuntime(label, (runtime) => {
    const [ours, theirs] = [figureOf(runtime, "heddle"), figureOf(runtime, BARE_WORKER)];
    const text = page.times(ours, theirs);
    return `${page.figure(ours)} (${ours > theirs ? `**${text}**` : text})`;
  });

/** Means and processor time, of results that have both settings of heddle. */
function meanRows(label: string, name: string, size: number): string[][] {
  if (
    !page.RUNTIMES.every((runtime) =>
      contendersOf(page.resultOf(runtime, "contended")) !== CONTENDERS
    )
  ) {
    return [];
  }
  const of = (what: string, key: "mean" | "p50") => (runtime: string, contender: string): number =>
    page.measurementOf(page.resultOf(runtime, "contended"), contender, what, size)?.[key] ?? NaN;
  return [
    derived(`${label}: mean, µs`, of(name, "mean")),
    derived(`${label}: processor time, µs`, of(contendedCases.cpuOf(name), "p50")),
  ];
}

function overview(): string {
  const kinds: readonly coldCases.ColdKind[] = ["number", "object, 200 B"];
  const step = (
    name: string,
    kind: coldCases.ColdKind,
    label: string,
    key: "p50" | "perCall" = "p50",
  ) => against(label, "cold", coldCases.caseOf(name, kind), 1, key);
  const rows = [
    ...kinds.flatMap((kind) => [
      derived(
        `import and ${coldCases.FIRST_ANSWER}, ${kind}, ms`,
        (runtime, contender) => startOf(runtime, contender, kind),
      ),
      step(coldCases.FIRST_ANSWER, kind, `${coldCases.FIRST_ANSWER} after the import, ${kind}, ms`),
      step(coldCases.SECOND_CALL, kind, `${coldCases.SECOND_CALL}, ${kind}, µs`),
      step(coldCases.FIRST_CALLS, kind, `${coldCases.FIRST_CALLS}, ${kind}, µs each`, "perCall"),
      step(coldCases.NEXT_CALLS, kind, `${coldCases.NEXT_CALLS}, ${kind}, µs each`, "perCall"),
    ]),
    against(`${coldCases.MEMORY}, MiB`, "cold", coldCases.MEMORY, 1, "p50"),
    ...PACES.flatMap(({ label, case: name, size }) => [
      against(`${label}: p50, µs`, "sporadic", name, size, "p50"),
      against(`${label}: p99, µs`, "sporadic", name, size, "p99"),
      derived(
        `${label}: processor time, µs`,
        (runtime, contender) => cpuOfCalls(runtime, contender, name, size),
      ),
    ]),
    ...loadsOf(page.resultOf("node", "contended")).flatMap(({ label, case: name, size }) => [
      against(`${label}: p50, µs`, "contended", name, size, "p50"),
      ...meanRows(label, name, size),
      against(`${label}: p99, µs`, "contended", name, size, "p99"),
    ]),
  ];
  return page.table(["heddle (× bare worker)", ...page.TITLES], rows);
}

const cold = (result: ScenarioResult): string => coldTable(result, coldCases.COLD_KINDS);

/** By name of the table. */
export const COLD_TABLES: page.Tables = {
  "overview": overview,
  ...Object.fromEntries(
    page.RUNTIMES.flatMap((runtime) =>
      Object.entries({ cold, sporadic, contended }).map(([name, create]) => [
        `${name} on ${page.title(runtime)}`,
        () => page.sourced(page.resultOf(runtime, name), create(page.resultOf(runtime, name))),
      ])
    ),
  ),
};
