/**
 * A close look at heddle beside Tokio: a marker per runtime and case, right of the baseline where heddle is
 * faster, left of it where it is slower.
 */
import type { Measurement, ScenarioResult } from "../benchmarks/harness/schema.ts";
import { formatBytes } from "../benchmarks/harness/units.ts";
import { nameOf } from "./bar-chart.ts";
import { type ChartSpec, COLORS, describe, type Figure, frame, title, toBars } from "./style.ts";

const TOKIO = "tokio mpsc + oneshot";
const OURS = "heddle";
const ROW_PIXELS = 20;
/** Titles, axis and legend. */
const FRAME_PIXELS = 190;
const TICKS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100];

/** What one runtime's result is compared with, and how its rows are named. */
interface Pair {
  readonly ours: readonly ScenarioResult[];
  readonly tokio: ScenarioResult;
  readonly rowOf: (measurement: Measurement) => string;
}

const isSame = (a: Measurement, b: Measurement): boolean => a.case === b.case && a.size === b.size;

/** How many times as fast as Tokio; null where there is no figure of ours. */
function speedOf(ours: ScenarioResult, of: Measurement): Figure | null {
  const mine = ours.measurements.find((each) => each.contender === OURS && isSame(each, of));
  return mine === undefined ? null : { value: of.p50 / mine.p50, samples: mine.samples };
}

function markers(name: string, heading: string, { ours, tokio, rowOf }: Pair): ChartSpec[] {
  const rows = tokio.measurements.filter((each) =>
    each.contender === TOKIO && ours.some((result) => speedOf(result, each) !== null)
  );
  if (rows.length === 0) return [];
  const speeds = ours.map((result) => rows.map((row) => speedOf(result, row)));
  const all = speeds.flat().filter((speed) => speed !== null).map(({ value }) => value);
  const shown = TICKS.filter((_, index) =>
    (TICKS[index + 1] ?? Infinity) >= Math.min(...all, 1) &&
    (TICKS[index - 1] ?? 0) <= Math.max(...all, 1)
  );
  const datasets: Record<string, unknown>[] = ours.map((result, index) => ({
    label: nameOf(result),
    ...toBars(speeds[index]!),
    borderColor: COLORS[result.runtime],
    backgroundColor: COLORS[result.runtime],
    showLine: false,
    pointRadius: 6,
    pointStyle: ["circle", "triangle", "rectRot"][index],
  }));
  datasets.push({
    label: `Tokio ${tokio.version}`,
    data: rows.map(() => 1),
    borderColor: "#666666",
    backgroundColor: "transparent",
    borderDash: [6, 4],
    borderWidth: 2,
    pointRadius: 0,
  });
  return [{
    scenario: "tokio",
    name,
    caption: describe(ours[0]!),
    height: FRAME_PIXELS + rows.length * ROW_PIXELS,
    config: {
      type: "line",
      data: { labels: rows.map(rowOf), datasets },
      options: {
        indexAxis: "y",
        ...frame(heading, describe(ours[0]!), { usePointStyle: true }),
        scales: {
          x: {
            type: "logarithmic",
            min: shown[0],
            max: shown.at(-1),
            title: title("times as fast as Tokio (logarithmic, right is better)", 13),
            fixedTicks: shown.map((value) => ({ value, label: `${value} ×` })),
          },
          y: { type: "category", offset: true, ticks: { autoSkip: false } },
        },
      },
    },
  }];
}

/** `latency` and `tokio` results of all runtimes, and Tokio's own. */
export function tokioCharts(
  latency: readonly ScenarioResult[],
  payloads: readonly ScenarioResult[],
  tokioLatency: ScenarioResult | undefined,
  tokioPayloads: ScenarioResult | undefined,
): ChartSpec[] {
  const numbers = tokioLatency === undefined || latency.length === 0 ? [] : markers(
    "tokio-f64",
    "f64 echo beside Tokio's mpsc + oneshot (p50)",
    {
      ours: latency,
      tokio: tokioLatency,
      rowOf: ({ size }) => size === 1 ? "1 call" : `${size.toLocaleString("en")} calls`,
    },
  );
  if (tokioPayloads === undefined || payloads.length === 0) return numbers;
  const ofKind = (kind: string): ScenarioResult => ({
    ...tokioPayloads,
    measurements: tokioPayloads.measurements.filter((each) => each.case.startsWith(kind)),
  });
  return [
    ...numbers,
    ...["bytes", "string"].flatMap((kind) =>
      markers(`tokio-${kind}`, `${kind} echoed beside Tokio, copied both ways (p50)`, {
        ours: payloads,
        tokio: ofKind(kind),
        rowOf: (each) => `${formatBytes(each.size)}, ${each.case.split(", ")[1]}`,
      })
    ),
  ];
}
