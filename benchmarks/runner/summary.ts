/** The table at the end of a run: heddle beside others, hot, sporadic and cold. */
import { existsSync, readFileSync } from "node:fs";
import {
  CONTENDERS,
  GROUPS,
  type OverviewResults,
  valuesOf,
} from "../../graphs/overview-charts.ts";
import type { ScenarioResult } from "../harness/schema.ts";

const RUNTIMES = ["node", "deno", "bun"] as const;

function readOverview(results: string, runtime: string): OverviewResults | undefined {
  const [ipc, sporadic, cold] = ["ipc", "sporadic", "cold"].map((scenario) => {
    const file = `${results}${runtime}/${scenario}.json`;
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as ScenarioResult : undefined;
  });
  return ipc && sporadic && cold ? { ipc, sporadic, cold } : undefined;
}

const formatUs = (us: number | undefined): string => {
  if (us === undefined) return "–";
  return us < 1000 ? `${Number(us.toPrecision(3))} µs` : `${Number((us / 1000).toPrecision(3))} ms`;
};

/** Lines of equal columns; empty if the run had not all three scenarios on any runtime. */
export function summaryOf(results: string): string {
  const rows = RUNTIMES.flatMap((runtime) => {
    const overview = readOverview(results, runtime);
    if (overview === undefined) return [];
    const values = CONTENDERS.map((contender) => valuesOf(overview, contender));
    return GROUPS.map((group, at) => [
      runtime,
      group.join(": "),
      ...values.map((figures) => formatUs(figures[at]?.value)),
    ]);
  });
  if (rows.length === 0) return "";
  const table = [["", "median", ...CONTENDERS], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  return table.map((row) =>
    row.map((cell, column) =>
      column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
    ).join("  ").trimEnd()
  ).join("\n");
}
