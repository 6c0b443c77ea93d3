/** Tables of results that are no list of rows with the same columns. */
import * as concurrency from "../scenarios/concurrency-cases.ts";
import { cpuOf, NEVER_SPINNING } from "../scenarios/contended-cases.ts";
import { caseOf, CPU, FIGURES, type HttpFigure, loadOf, RATE } from "../scenarios/http-cases.ts";
import { table } from "./markdown-table.ts";
import {
  figures,
  formatPaired,
  P999,
  pairedTo,
  PER_CALL,
  ratio,
  reasonOf,
  rowTable,
  SAMPLES,
} from "./row-table.ts";
import type { Measurement, ScenarioResult } from "./schema.ts";
import { formatBytes } from "./units.ts";

/** The measurement of a contender at a case and size. */
const find = (
  { measurements }: ScenarioResult,
  contender: string,
  name: string,
  size: number | undefined,
): Measurement | undefined =>
  measurements.find((each) =>
    each.contender === contender && each.case === name && each.size === size
  );

export function latencyTable({ measurements }: ScenarioResult): string[] {
  const sorted = [...measurements].sort((a, b) =>
    a.case.localeCompare(b.case) || a.size - b.size || a.p50 - b.p50
  );
  return [
    ...table(
      "case,contender,batch,p50 µs,p99 µs,mean µs,× floor,p50 × postMessage".split(","),
      sorted.map((each) => [
        each.case,
        each.contender,
        String(each.size),
        String(each.p50),
        String(each.p99),
        String(each.mean),
        each.ratioToFloor?.toFixed(2) ?? "–",
        formatPaired(each.paired),
      ]),
    ),
    "",
    "× floor: p50 against the raw ring floor's f64 echo at the same batch. × postMessage: the median of pairs of neighbouring blocks, and its 95 % interval.",
  ];
}

export const heavyLoadTable = ({ measurements, machine }: ScenarioResult): string[] =>
  table(
    ["threads", "", "p50 ms", "min ms", "speed-up", "efficiency", "× efficiency by hand"],
    measurements.map((each) => [
      each.contender,
      each.size + 1 > machine.cores ? "oversubscribed" : "",
      String(each.p50),
      String(each.min),
      each.speedUp?.toFixed(2) ?? "–",
      each.efficiency === undefined ? "–" : `${(100 * each.efficiency).toFixed(0)} %`,
      each.ratioToReference === undefined ? "–" : (1 / each.ratioToReference).toFixed(2),
    ]),
  );

const CONTENDED_KEYS = ["case", "contender", "calls at once"];

export const contendedTable = (result: ScenarioResult): string[] => [
  ...rowTable(result, {
    keys: CONTENDED_KEYS,
    columns: [...figures("µs", "p50", "p99"), P999, PER_CALL, pairedTo("bare worker"), SAMPLES],
  }),
  ...meansTable(result),
  "",
  "Processor time: of all threads of the process, user and system, per call.",
];

/** Where both settings of heddle were measured: means and processor time say whether spinning pays, medians do not. */
function meansTable(result: ScenarioResult): string[] {
  const compared = result.measurements.filter(({ case: name, size }) =>
    find(result, NEVER_SPINNING, cpuOf(name), size) !== undefined
  );
  if (compared.length === 0) return [];
  // The median of blocks: one in which the process hardly ran has few calls and much of their cost.
  const cpu = ({ contender, case: name, size }: Measurement): number | undefined =>
    find(result, contender, cpuOf(name), size)?.p50;
  const timesBare = (measurement: Measurement, figure: typeof cpu): string => {
    const { case: name, size } = measurement;
    const bare = find(result, "bare worker", name, size);
    const [own, theirs] = [figure(measurement), bare && figure(bare)];
    return ratio(own === undefined || theirs === undefined ? undefined : own / theirs);
  };
  return [
    "",
    ...rowTable({ ...result, measurements: compared, failures: [] }, {
      keys: CONTENDED_KEYS,
      columns: [
        ...figures("µs", "p50", "mean", "p99"),
        ["processor time µs", (each) => String(cpu(each) ?? "–")],
        ["mean × bare worker", (each) => timesBare(each, ({ mean }) => mean)],
        ["processor time × bare worker", (each) => timesBare(each, cpu)],
      ],
    }),
  ];
}

function textOf(figure: Measurement | undefined): string {
  if (figure === undefined) return "–";
  const { p50, unit } = figure;
  if (unit === "bytes") return formatBytes(p50);
  return unit === "requests" ? String(p50) : `${p50} ${unit}`;
}

/** A row for each contender and number of tasks: the fastest first, and then those without figures. */
function tasksTable(result: ScenarioResult, of: concurrency.ConcurrencyTable): string[] {
  const names: readonly string[] = concurrency.FIGURES_OF[of];
  /** Figures that are compared with plain async. */
  const isCompared = (name: string): boolean =>
    ![concurrency.FAILED, concurrency.PER_TASK, concurrency.START].includes(name);
  const header = names.flatMap((name) =>
    isCompared(name) ? [name, `× ${concurrency.PLAIN}`] : [name]
  );
  const wall = concurrency.caseOf(of, concurrency.WALL);
  const measured = result.measurements.filter((each) => each.case === wall)
    .sort((a, b) => a.p50 - b.p50);
  const rows = [...measured, ...result.failures.filter((each) => each.case === wall)]
    .sort((a, b) => (a.size ?? 0) - (b.size ?? 0));
  return table(
    ["tasks", "contender", ...header],
    rows.map((row) => {
      const { contender, size = 0 } = row;
      const cells = "reason" in row ? [reasonOf(row)] : names.flatMap((name) => {
        const figure = find(result, contender, concurrency.caseOf(of, name), size);
        return isCompared(name)
          ? [textOf(figure), ratio(figure?.ratioToBaseline)]
          : [textOf(figure)];
      });
      return [String(size), contender, ...cells, ...header.slice(cells.length).map(() => "")];
    }),
  );
}

export function concurrencyTable(result: ScenarioResult): string[] {
  const failed = result.failures.filter(({ case: name }) => name?.endsWith(concurrency.FAILED));
  return [
    ...tasksTable(result, concurrency.WAITING),
    "",
    "Tasks that compute for 10 ms after each response:",
    "",
    ...tasksTable(result, concurrency.COMPUTING),
    "",
    "All tasks at once, five requests each. Memory per task: the peak less the peak before the first task.",
    ...failed.map(({ contender, size, reason }) => `\n${contender}, ${size} tasks: ${reason}`),
  ];
}

const headOf = (name: HttpFigure): string =>
  name === RATE ? name : name === CPU ? `${name} µs` : `${name.replace(" latency", "")} ms`;

/** A row for each load and contender: averages over the runs. */
export function httpTable({ cases = [], measurements, failures }: ScenarioResult): string[] {
  // Only short tasks have processor time.
  const hasCpu = measurements.some(({ case: name }) => name.endsWith(CPU));
  const names = FIGURES.filter((name) => hasCpu || name !== CPU);
  const rows = [...new Set(cases.map(loadOf))].flatMap((load) => {
    const ofLoad = measurements.filter((each) => loadOf(each.case) === load);
    const measured = [...new Set(ofLoad.map((each) => each.contender))].map((contender) => {
      const own = ofLoad.filter((each) => each.contender === contender);
      const [{ size, samples }] = own as [Measurement];
      const of = (figure: HttpFigure): string =>
        String(own.find((each) => each.case === caseOf(load, figure))?.mean ?? "–");
      return [load, contender, String(size), ...names.map(of), String(samples)];
    });
    const failed = failures.filter(({ case: name }) => name !== undefined && loadOf(name) === load);
    return [
      ...measured,
      ...failed.map((each) => [
        load,
        each.contender,
        String(each.size),
        reasonOf(each),
        ...names.map(() => ""),
      ]),
    ];
  });
  return [
    ...table(["", "contender", "connections", ...names.map(headOf), "runs"], rows),
    "",
    "Averages over cold runs: a server process is started for each. Connections of the open loop: per cent " +
    "of the main thread's rate instead.",
    ...(hasCpu
      ? ["", "Processor time: of all threads of the server, user and system, per request."]
      : []),
  ];
}
