/** What all charts share. Chart.js configurations are plain data here, so that PNG and page share them. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";

export interface ChartSpec {
  /** File name without extension. */
  readonly name: string;
  readonly caption: string;
  /** Pixels, if it needs more than the usual ones. */
  readonly height?: number;
  readonly config: Record<string, unknown>;
}

/** A tick that a scale names in its `fixedTicks`. */
export interface Tick {
  readonly value: number;
  readonly label: string;
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
  "node": "#009E73",
  "deno": "#0072B2",
  "bun": "#E69F00",
};

/** The options of a title. */
export const title = (text: string, size = 16): Record<string, unknown> => ({
  display: true,
  text,
  font: { size },
});

/** Where and when a result was measured. */
export function describe({ machine, date, isQuick }: ScenarioResult): string {
  const mode = isQuick ? ", quick run" : "";
  return `${machine.cpu}, ${machine.cores} cores, ${date.slice(0, 10)}${mode}`;
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
