/** A result as a page of Markdown tables. */
import { SCENARIOS } from "../runner/catalogue.ts";
import { rowTable } from "./row-table.ts";
import type { ScenarioResult } from "./schema.ts";

function tableOf(result: ScenarioResult): string[] {
  const { table } = SCENARIOS[result.scenario]!;
  if (typeof table === "function") return table(result);
  return [...rowTable(result, table), ...(table.note === undefined ? [] : ["", table.note])];
}

export function toMarkdown(result: ScenarioResult): string {
  const { machine } = result;
  const lines = [
    `# ${result.scenario} on ${result.runtime} ${result.version}`,
    "",
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.kernel}; ` +
    `commit ${result.commit}, ${result.date}${result.isQuick ? ", quick run" : ""}; ` +
    Object.entries(result.versions).map(([name, version]) => `${name} ${version}`).join(", ") + ".",
    ...busyNote(result),
    "",
    ...tableOf(result),
    // Failures of a case have a row of their own.
    ...result.failures.filter((failure) => failure.case === undefined)
      .map(({ contender, reason }) => `\nNot measured: ${contender}: ${reason}`),
  ];
  return `${lines.join("\n")}\n`;
}

function busyNote({ reference }: ScenarioResult): string[] {
  if (reference?.isBusy !== true) return [];
  const { beforeMs, afterMs, leastMs } = reference;
  return [
    "",
    `**The machine was busy**: a piece of work that took ${leastMs} ms at best took ${beforeMs} ms ` +
    `before and ${afterMs} ms after.`,
  ];
}
