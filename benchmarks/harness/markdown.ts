/** A result as a page of Markdown tables. */
import { concurrencyTable } from "./concurrency-tables.ts";
import { table } from "./markdown-table.ts";
import { httpSoakTable, httpTable } from "./http-tables.ts";
import { coldTable, soakTable } from "./operation-tables.ts";
import {
  codecTable,
  ipcTable,
  payloadGrowthTable,
  tokioTable,
  typesTable,
} from "./payload-tables.ts";
import { programsTable } from "./program-tables.ts";
import { formatPaired, hotTable } from "./paired-tables.ts";
import type { Measurement, ScenarioResult } from "./schema.ts";
import { natsTable } from "./nats-tables.ts";
import { browserTable } from "./browser-tables.ts";
import { sharedTable } from "./shared-tables.ts";
import { streamsTable } from "./stream-tables.ts";
import {
  burstTable,
  contendedTable,
  fanOutTable,
  idleCostTable,
  latenessTable,
  mixedLoadTable,
  sporadicTable,
  threadSweepTable,
} from "./waiting-tables.ts";

const TABLES: Readonly<Record<string, (result: ScenarioResult) => string[]>> = {
  "hot": hotTable,
  "adapter": hotTable,
  "ipc": ipcTable,
  "latency": latencyTable,
  "heavy-load": heavyLoadTable,
  "types": typesTable,
  "payload-growth": payloadGrowthTable,
  "codec": codecTable,
  "lateness": latenessTable,
  "sporadic": sporadicTable,
  "contended": contendedTable,
  "idle-cost": idleCostTable,
  "thread-sweep": threadSweepTable,
  "burst": burstTable,
  "mixed-load": mixedLoadTable,
  "fan-out": fanOutTable,
  "tokio": tokioTable,
  "cold": coldTable,
  "concurrency": concurrencyTable,
  "soak": soakTable,
  "programs": programsTable,
  "streams": streamsTable,
  "nats": natsTable,
  "shared": sharedTable,
  "browser": browserTable,
  "http": httpTable,
  "http-soak": httpSoakTable,
};

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
    ...TABLES[result.scenario]!(result),
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

function latencyTable({ measurements }: ScenarioResult): string[] {
  const header = [
    "case",
    "contender",
    "batch",
    "p50 µs",
    "p99 µs",
    "mean µs",
    "× floor",
    "p50 × postMessage",
  ];
  const sorted = [...measurements].sort((a, b) =>
    a.case.localeCompare(b.case) || a.size - b.size || a.p50 - b.p50
  );
  return [
    ...table(
      header,
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

function heavyLoadTable({ measurements, machine }: ScenarioResult): string[] {
  const row = (each: Measurement): string[] => [
    each.contender,
    each.size + 1 > machine.cores ? "oversubscribed" : "",
    String(each.p50),
    String(each.min),
    each.speedUp?.toFixed(2) ?? "–",
    each.efficiency === undefined ? "–" : `${(100 * each.efficiency).toFixed(0)} %`,
    each.ratioToReference === undefined ? "–" : (1 / each.ratioToReference).toFixed(2),
  ];
  return table(
    ["threads", "", "p50 ms", "min ms", "speed-up", "efficiency", "× efficiency by hand"],
    measurements.map(row),
  );
}
