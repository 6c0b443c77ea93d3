/** The tables of `http` and `http-soak`. */
import { caseOf, type HttpFigure, loadOf, MEAN, P50, P99, RATE } from "../scenarios/http-cases.ts";
import { table } from "./markdown-table.ts";
import { soakTable } from "./operation-tables.ts";
import type { Measurement, ScenarioResult } from "./schema.ts";

/** A row for each load and contender: averages over the runs. */
export function httpTable({ cases = [], measurements, failures }: ScenarioResult): string[] {
  const rows: string[][] = [];
  for (const load of new Set(cases.map(loadOf))) {
    const ofLoad = measurements.filter((each) => loadOf(each.case) === load);
    for (const contender of new Set(ofLoad.map((each) => each.contender))) {
      const own = ofLoad.filter((each) => each.contender === contender);
      rows.push([load, contender, ...cellsOf(load, own)]);
    }
    for (const { contender, case: name, size, reason, isSkipped } of failures) {
      if (name === undefined || loadOf(name) !== load) continue;
      const text = `${isSkipped === true ? "left out" : "FAILED"}: ${reason}`;
      rows.push([load, contender, String(size), text, "", "", "", ""]);
    }
  }
  return [
    ...table(["", "contender", "connections", RATE, "mean ms", "p50 ms", "p99 ms", "runs"], rows),
    "",
    "Averages over cold runs: a server process is started for each. Connections of the open loop: per cent " +
    "of the main thread's rate instead.",
  ];
}

function cellsOf(load: string, own: readonly Measurement[]): string[] {
  const of = (figure: HttpFigure): string =>
    String(own.find((each) => each.case === caseOf(load, figure))?.mean ?? "–");
  const [{ size, samples }] = own as [Measurement];
  return [String(size), of(RATE), of(MEAN), of(P50), of(P99), String(samples)];
}

export const httpSoakTable: (result: ScenarioResult) => string[] = soakTable;
