/** Charts of `sporadic` and `contended`, one runtime in each. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import { formatUs } from "../benchmarks/harness/units.ts";
import {
  AT_ONCE,
  caseOf,
  EVERY as EVERY_3_MS,
  QUICK_PLACEMENTS,
} from "../benchmarks/scenarios/contended-cases.ts";
import { CPU_OF, EVERY, GAPS_US, POISSON, RATES } from "../benchmarks/scenarios/sporadic-cases.ts";
import { ratioChart, type RatioGroup } from "./ratio-chart.ts";
import type { ChartSpec } from "./style.ts";

const TO = "bare worker";
const CONTENDERS = ["heddle", "Piscina", "Tinypool"] as const;

const PACES: readonly RatioGroup[] = [
  ...GAPS_US.map((size) => ({ label: `one every ${formatUs(size)}`, case: EVERY, size })),
  ...RATES.map((size) => ({
    label: `${size.toLocaleString("en")} a second, at random`,
    case: POISSON,
    size,
  })),
];

export const sporadicCharts = (result: ScenarioResult): ChartSpec[] => [
  ...ratioChart(result, {
    name: `sporadic-${result.runtime}`,
    heading: "Calls with pauses: time of a call",
    to: TO,
    groups: PACES,
    contenders: CONTENDERS,
  }),
  ...ratioChart(result, {
    name: `sporadic-cpu-${result.runtime}`,
    heading: "Calls with pauses: processor time of the process",
    to: TO,
    groups: PACES.map((pace) => ({ ...pace, case: CPU_OF[pace.case]! })),
    contenders: CONTENDERS,
  }),
];

const LOADS = [
  { label: "one at a time", name: AT_ONCE, size: 1 },
  { label: "20 at once", name: AT_ONCE, size: 20 },
  { label: EVERY_3_MS, name: EVERY_3_MS, size: 1 },
] as const;

export const contendedCharts = (result: ScenarioResult): ChartSpec[] =>
  ratioChart(result, {
    name: `contended-${result.runtime}`,
    heading: "Calls without a core for each thread",
    to: TO,
    // All are in the table.
    groups: QUICK_PLACEMENTS.flatMap((placement) =>
      LOADS.map(({ label, name, size }) => ({
        label: [label, placement],
        case: caseOf(placement, name),
        size,
      }))
    ),
    contenders: CONTENDERS,
  });
