/** The tables of `http` and `http-soak`. */
import {
  caseOf,
  CPU,
  FIGURES as ALL_FIGURES,
  type HttpFigure,
  loadOf,
  MEAN,
  P50,
  P99,
  RATE,
} from "../scenarios/http-cases.ts";
import { table } from "./markdown-table.ts";
import { soakTable } from "./operation-tables.ts";
import type { Measurement, ScenarioResult } from "./schema.ts";

const HEADS: Readonly<Record<HttpFigure, string>> = {
  [RATE]: RATE,
  [MEAN]: "mean ms",
  [P50]: "p50 ms",
  [P99]: "p99 ms",
  [CPU]: "processor time µs",
};

/** A row for each load and contender: averages over the runs. */
export function httpTable({ cases = [], measurements, failures }: ScenarioResult): string[] {
  const rows: string[][] = [];
  // Only short tasks have processor time.
  const names: readonly HttpFigure[] = measurements.some(({ case: name }) => name.endsWith(CPU))
    ? ALL_FIGURES
    : ALL_FIGURES.filter((name) => name !== CPU);
  for (const load of new Set(cases.map(loadOf))) {
    const ofLoad = measurements.filter((each) => loadOf(each.case) === load);
    for (const contender of new Set(ofLoad.map((each) => each.contender))) {
      const own = ofLoad.filter((each) => each.contender === contender);
      rows.push([load, contender, ...cellsOf(load, own, names)]);
    }
    for (const { contender, case: name, size, reason, isSkipped } of failures) {
      if (name === undefined || loadOf(name) !== load) continue;
      const text = `${isSkipped === true ? "left out" : "FAILED"}: ${reason}`;
      rows.push([load, contender, String(size), text, ...names.map(() => "")]);
    }
  }
  return [
    ...table(["", "contender", "connections", ...names.map((name) => HEADS[name]), "runs"], rows),
    "",
    "Averages over cold runs: a server process is started for each. Connections of the open loop: per cent " +
    "of the main thread's rate instead.",
    ...(names.includes(CPU)
      ? ["", "Processor time: of all threads of the server, user and system, per request."]
      : []),
  ];
}

function cellsOf(
  load: string,
  own: readonly Measurement[],
  names: readonly HttpFigure[],
): string[] {
  const of = (figure: HttpFigure): string =>
    String(own.find((each) => each.case === caseOf(load, figure))?.mean ?? "–");
  const [{ size, samples }] = own as [Measurement];
  return [String(size), ...names.map(of), String(samples)];
}

export const httpSoakTable: (result: ScenarioResult) => string[] = soakTable;
