/** What the tables of the docs share: results, figures, and how they are written. */
import { existsSync, readFileSync } from "node:fs";
import type { Measurement, PairedRatio, ScenarioResult } from "../harness/schema.ts";

const results = new URL("../../results/", import.meta.url);

export const RUNTIMES = ["node", "deno", "bun"] as const;
export type RuntimeName = typeof RUNTIMES[number];

const read = new Map<string, ScenarioResult>();

/** A result of the reference run. */
export function resultOf(runtime: string, scenario: string): ScenarioResult {
  const name = `${runtime}/${scenario}.json`;
  let result = read.get(name);
  if (result === undefined) {
    result = JSON.parse(readFileSync(new URL(name, results), "utf8")) as ScenarioResult;
    read.set(name, result);
  }
  return result;
}

export const hasResult = (runtime: string, scenario: string): boolean =>
  existsSync(new URL(`${runtime}/${scenario}.json`, results));

/** The measurement of a contender at a case and size. */
export function measurementOf(
  { measurements }: ScenarioResult,
  contender: string,
  name: string,
  size: number,
): Measurement | undefined {
  return measurements.find((each) =>
    each.contender === contender && each.case === name && each.size === size
  );
}

/** Where and when it was measured. */
export function sourceOf({ version, date, commit, machine, reference }: ScenarioResult): string {
  const busy = reference?.isBusy === true ? "; **the machine was busy**" : "";
  return `Version ${version}, commit ${commit}, ${date.slice(0, 10)}, ${machine.cpu}, ` +
    `${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.kernel}${busy}.`;
}

/** Three significant digits. */
export const figure = (value: number | undefined): string =>
  value === undefined ? "–" : value >= 100 ? String(Math.round(value)) : value.toPrecision(3);

/** How many times as long: `of` divided by `ours`, two significant digits below a hundred. */
export function times(of: number | undefined, ours: number | undefined): string {
  if (of === undefined || ours === undefined) return "–";
  const ratio = of / ours;
  return `${ratio >= 100 ? Math.round(ratio) : Number(ratio.toPrecision(2))} ×`;
}

/** The ratio of neighbours in time, and its 95 % interval. */
export function pairedTimes({ ratio, low, high }: PairedRatio): string {
  const [middle, from, to] = [ratio, low, high].map((value) => Number(value.toPrecision(2)));
  return `${middle} ×, ${from}–${to}`;
}

export const title = (runtime: string): string => `${runtime[0]!.toUpperCase()}${runtime.slice(1)}`;

/** `align`: a letter per column, l or r. Short rows are filled up. */
export const table = (
  head: readonly string[],
  align: string,
  rows: readonly (readonly string[])[],
): string =>
  [
    head,
    [...align].map((side) => side === "r" ? "---:" : "---"),
    ...rows.map((row) => [...row, ...head.slice(row.length).map(() => "")]),
  ].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
