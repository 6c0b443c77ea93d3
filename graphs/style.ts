/** What all charts share. Chart.js configurations are plain data here, so that PNG and page share them. */
import type { Measurement, ScenarioResult } from "../benchmarks/harness/schema.ts";

export interface ChartSpec {
  /** File name without extension. */
  readonly name: string;
  /** What the page picks by; without `runtime` it has all of them in it. */
  readonly scenario: string;
  readonly runtime?: string;
  readonly caption: string;
  /** Pixels, if it needs more than the usual ones. */
  readonly height?: number;
  readonly config: Record<string, unknown>;
}

/** A figure in a chart, and how many samples it is of: the page's tooltips say so. */
export interface Figure {
  readonly value: number;
  readonly samples: number;
}

/** A dataset's part that Chart.js draws, and the counts beside it; null: no figure. */
export const toBars = (
  figures: readonly (Figure | null)[],
): { data: (number | null)[]; counts: (number | null)[] } => ({
  data: figures.map((figure) => figure?.value ?? null),
  counts: figures.map((figure) => figure?.samples ?? null),
});

/** The same for points of a line over `size`. */
export function toLine(
  measurements: readonly Measurement[],
  valueOf: (measurement: Measurement) => number,
): { data: { x: number; y: number }[]; counts: number[] } {
  const sorted = [...measurements].sort((a, b) => a.size - b.size);
  return {
    data: sorted.map((each) => ({ x: each.size, y: valueOf(each) })),
    counts: sorted.map(({ samples }) => samples),
  };
}

/** A tick that a scale names in its `fixedTicks`. */
export interface Tick {
  readonly value: number;
  readonly label: string | readonly string[];
}

/** Okabe and Ito's palette: told apart with any colour vision. */
export const COLORS: Readonly<Record<string, string>> = {
  "heddle": "#0072B2",
  "heddle (JSON text)": "#56B4E9",
  "raw ring floor": "#999999",
  "postMessage": "#E69F00",
  "Piscina": "#D55E00",
  "tokio mpsc + oneshot": "#009E73",
  "heddle codec": "#0072B2",
  "JSON": "#56B4E9",
  "node:v8": "#009E73",
  "msgpackr": "#CC79A7",
  "structuredClone": "#E69F00",
  "raw worker": "#E69F00",
  "no workers": "#999999",
  "bare worker": "#E69F00",
  "bare web worker": "#F0E442",
  "Tinypool": "#56B4E9",
  "jest-worker": "#CC79A7",
  "workerpool": "#D55E00",
  "@heddle/piscina": "#000080",
  "@heddle/piscina, 2 workers": "#56B4E9",
  "no calls": "#999999",
  "time": "#0072B2",
  "processor time": "#E69F00",
  "Knitting": "#CC79A7",
  "heddle, 2 workers": "#56B4E9",
  "heddle, 4 workers": "#000080",
  "node": "#009E73",
  "deno": "#0072B2",
  "bun": "#E69F00",
};

/** A logarithmic axis has no zero from which a bar could grow. */
export const DOTS: Readonly<Record<string, unknown>> = {
  showLine: false,
  pointRadius: 7,
  pointBorderColor: "#ffffff",
};

/** The options of a title. */
export const title = (text: string, size = 16): Record<string, unknown> => ({
  display: true,
  text,
  font: { size },
});

/** Where and when a result was measured. */
export function describe({ machine, date, isQuick, reference }: ScenarioResult): string {
  const mode = isQuick ? ", quick run" : "";
  const load = reference?.isBusy === true ? ", on a busy machine" : "";
  return `${machine.cpu}, ${machine.cores} cores, ${date.slice(0, 10)}${mode}${load}`;
}

/** Legend labels that show the dashes of a line. */
export const LINE_SAMPLES: Readonly<Record<string, unknown>> = { boxWidth: 48, boxHeight: 0 };

/** Ticks at the powers of ten from 10 ** `first` to 10 ** `last`. */
export function decades(first: number, last: number): Tick[] {
  return Array.from({ length: last - first + 1 }, (_, step) => {
    const value = Number(`1e${first + step}`);
    return { value, label: value.toLocaleString("en", { maximumFractionDigits: 6 }) };
  });
}

/** A logarithmic axis over the whole powers of ten around the values. */
export function decadeScale(values: readonly number[], heading: string): Record<string, unknown> {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.ceil(Math.log10(Math.max(...values)));
  return {
    type: "logarithmic",
    min: 10 ** first,
    max: 10 ** last,
    title: title(heading, 13),
    fixedTicks: decades(first, last),
  };
}

/** Padding, titles and legend: the options around the scales. */
export function frame(
  heading: string,
  subtitle: string,
  legendLabels: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    layout: { padding: { left: 8, right: 24, top: 8, bottom: 8 } },
    plugins: {
      title: title(heading),
      subtitle: { display: true, text: subtitle, padding: { bottom: 12 } },
      legend: { position: "bottom", labels: legendLabels },
    },
  };
}
