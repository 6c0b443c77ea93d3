/** Tables of the scenarios about waiting and scheduling. */
import { cpuOf, NEVER_SPINNING } from "../scenarios/contended-cases.ts";
import { POISSON } from "../scenarios/sporadic-cases.ts";
import { type Column, column, ratio, type Row, rowTable } from "./row-table.ts";
import { pairedColumn } from "./paired-tables.ts";
import type { Measurement, ScenarioResult } from "./schema.ts";
import { formatUs } from "./units.ts";

const figures = (unit: string, ...names: readonly ("p50" | "p99" | "mean" | "min")[]): Column[] =>
  names.map((name) => column(`${name} ${unit}`, (measurement) => String(measurement[name])));

const samples = column("samples", ({ samples }) => String(samples));

const sizeOnly = ({ size }: { readonly size: number }): string[] => [String(size)];

export function latenessTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender", "task"],
      [
        ...figures("µs", "p50", "p99", "mean", "min"),
        column("p50 × raw worker", ({ ratioToBaseline }) => ratio(ratioToBaseline)),
        column("p99 × raw worker", ({ p99RatioToBaseline }) => ratio(p99RatioToBaseline)),
        samples,
      ],
      ({ size }) => [formatUs(size)],
    ),
    "",
    "Lateness: from the end of the task in the worker to the caller's continuation on the host. With",
    "fewer than 100 samples a round, p99 is the median of each round's worst.",
  ];
}

export function sporadicTable(result: ScenarioResult): string[] {
  const isRate = ({ case: name }: Row): boolean => name.includes(POISSON);
  return [
    ...rowTable(
      result,
      ["case", "contender", "pace"],
      [
        ...figures("µs", "p50", "p99"),
        column("p99.9 µs", ({ p999 }) => String(p999 ?? "–")),
        pairedColumn("bare worker"),
        column("mean − no calls", ({ overBaseline }) => String(overBaseline ?? "–")),
        samples,
      ],
      (row) => [isRate(row) ? `${row.size} a second` : formatUs(row.size)],
    ),
    "",
    "Processor time: of all threads of the process, user and system, per call.",
  ];
}

export function contendedTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender", "calls at once"],
      [
        ...figures("µs", "p50", "p99"),
        column("p99.9 µs", ({ p999 }) => String(p999 ?? "–")),
        column("µs per call", ({ perCall }) => String(perCall ?? "–")),
        pairedColumn("bare worker"),
        samples,
      ],
      sizeOnly,
    ),
    ...meansTable(result),
    "",
    "Processor time: of all threads of the process, user and system, per call.",
  ];
}

/** Where both settings of heddle were measured: means and processor time say whether spinning pays, medians do not. */
function meansTable(result: ScenarioResult): string[] {
  const { measurements } = result;
  const find = (contender: string, name: string, size: number): Measurement | undefined =>
    measurements.find((each) =>
      each.contender === contender && each.case === name && each.size === size
    );
  const compared = measurements.filter(({ case: name, size }) =>
    find(NEVER_SPINNING, cpuOf(name), size) !== undefined
  );
  if (compared.length === 0) return [];
  // The median of blocks: one in which the process hardly ran has few calls and much of their cost.
  const cpu = ({ contender, case: name, size }: Measurement): number | undefined =>
    find(contender, cpuOf(name), size)?.p50;
  const timesBare = (measurement: Measurement, figure: typeof cpu): string => {
    const { case: name, size } = measurement;
    const bare = find("bare worker", name, size);
    const [own, theirs] = [figure(measurement), bare && figure(bare)];
    return ratio(own === undefined || theirs === undefined ? undefined : own / theirs);
  };
  return [
    "",
    ...rowTable(
      { ...result, measurements: compared, failures: [] },
      ["case", "contender", "calls at once"],
      [
        ...figures("µs", "p50", "mean", "p99"),
        column("processor time µs", (each) => String(cpu(each) ?? "–")),
        column("mean × bare worker", (each) => timesBare(each, ({ mean }) => mean)),
        column("processor time × bare worker", (each) => timesBare(each, cpu)),
      ],
      sizeOnly,
    ),
  ];
}

export function idleCostTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender"],
      [
        column("mean % of a core", ({ mean }) => String(mean)),
        ...figures("%", "p50", "p99", "min"),
        column("mean − raw worker", ({ overBaseline }) => String(overBaseline ?? "–")),
        samples,
      ],
      () => [],
    ),
    "",
    "Processor time, user and system, over wall time. Idle: all threads of the process, a sample a second.",
    "Awaiting: the host's thread alone, a sample every 4 tasks.",
  ];
}

export function threadSweepTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender", "workers"],
      [
        ...figures("µs", "p50", "mean", "p99"),
        column("p50 × 1 worker", ({ ratioToReference }) => ratio(ratioToReference)),
        column("mean × 1 worker", ({ meanRatioToReference }) => ratio(meanRatioToReference)),
        samples,
      ],
      sizeOnly,
    ),
    "",
    "Time of a batch; at batch 1 that of a call, 20 one after the other to a sample.",
  ];
}

export function burstTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender", "calls at once"],
      [
        ...figures("µs", "p50", "mean", "p99", "min"),
        column("µs per call", ({ perCall }) => String(perCall ?? "–")),
        samples,
      ],
      sizeOnly,
    ),
    "",
    "Timer: how late it is, from when the calls have been made until all are answered; with 1, while calls are awaited one after the other.",
  ];
}

export function mixedLoadTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender", "calls at once"],
      [
        column("unit", ({ unit }) => unit),
        column("p50", ({ p50 }) => String(p50)),
        column("p99", ({ p99 }) => String(p99)),
        column("p50 × alone", ({ ratioToBaseline }) => ratio(ratioToBaseline)),
        column("p50 × long task", ({ ratioToReference }) => ratio(ratioToReference)),
        samples,
      ],
      sizeOnly,
    ),
    "",
    "× long task: less than 1 if the micro-tasks did not wait for it.",
  ];
}

export function fanOutTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender"],
      [
        ...figures("ms", "p50", "p99", "min"),
        column("ideal ms", ({ ideal }) => String(ideal)),
        column("p50 × ideal", ({ ratioToIdeal }) => ratio(ratioToIdeal)),
        column("p50 × 1 worker", ({ ratioToReference }) => ratio(ratioToReference)),
        samples,
      ],
      () => [],
    ),
    "",
    "Ideal: the tasks' own time, divided among the workers.",
  ];
}
