/**
 * How a chart looks: on a light or a dark ground, as wide as a page or as a phone. The data are the same. Colours and
 * texts of specs are those of the light, wide look.
 */

export interface Look {
  /** What the name of the file ends with, before `.png`. */
  readonly suffix: string;
  readonly isDark: boolean;
  readonly isPhone: boolean;
}

export const LIGHT: Look = { suffix: "", isDark: false, isPhone: false };
export const OTHER_LOOKS: readonly Look[] = [
  { suffix: "-dark", isDark: true, isPhone: false },
  { suffix: "-phone", isDark: false, isPhone: true },
  { suffix: "-phone-dark", isDark: true, isPhone: true },
];

/** The background, and what has no colour of its own: texts, and the lines of axes. */
export interface Ground {
  readonly background: string;
  readonly text: string;
  readonly lines: string;
}

const LIGHT_GROUND: Ground = { background: "#ffffff", text: "#666", lines: "rgba(0,0,0,0.1)" };
/** The site's own in its dark theme. */
const DARK_GROUND: Ground = {
  background: "#1b1b1f",
  text: "#c9c9cf",
  lines: "rgba(255,255,255,0.15)",
};
export const groundOf = ({ isDark }: Look): Ground => isDark ? DARK_GROUND : LIGHT_GROUND;

/** Colours that would be too dark to see, or would then be taken for each other. */
export const DARK_COLORS: Readonly<Record<string, string>> = {
  "#ffffff": DARK_GROUND.background,
  "#666666": "#b0b0b0",
  "#0072B2": "#2b90e0",
  "#56B4E9": "#a8daf7",
  "#000080": "#c5b3ff",
};

type Config = Record<string, unknown>;

/** A copy with other colours. The page gets this function's own source text, so it uses nothing from outside itself. */
export function recolored(config: Config, colors: Readonly<Record<string, string>>): Config {
  const text = JSON.stringify(config).replace(
    /#[0-9A-Fa-f]{6}/g,
    (color) => colors[color] ?? color,
  );
  return JSON.parse(text) as Config;
}

/** CSS pixels; the PNG has two for each, as the screens of phones do. */
export const PHONE_WIDTH = 400;
export const PHONE_PIXEL_RATIO = 2;
export const PHONE_HEIGHT = 480;
/** For titles and a legend that take more lines. */
export const PHONE_MORE_HEIGHT = 60;

/** Letters that fit in a line of each, in the sizes below. */
const TITLE_LETTERS = 40;
const SUBTITLE_LETTERS = 54;
const AXIS_LETTERS = 46;
const SIDE_LABEL_LETTERS = 22;
const TITLE_FONT = 14;
const AXIS_FONT = 11;
const LABEL_FONT = 10;
/** What all labels below an axis have together, and the mean width of a letter. */
const LABELS_PIXELS = 320;
const LETTER_PIXELS = 6;
const MAX_TICKS = 6;
const MAX_SAMPLE_PIXELS = 28;
const SLANT_DEGREES = 60;

/** Lines of at most so many letters, unless a word is longer. */
export function wrapped(text: string, letters: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= letters) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}

type Label = string | readonly string[];
const wrappedLabel = (label: Label, letters: number): string[] =>
  [label].flat().flatMap((line) => wrapped(line, letters));

interface Text {
  text: string | string[];
  font?: Config;
}

interface Scale extends Config {
  title?: Text;
  ticks?: Config;
  fixedTicks?: { value: number; label: Label }[];
}

interface PhoneOptions {
  indexAxis?: "y";
  layout: { padding: unknown };
  plugins: { title: Text; subtitle: Text; legend: { labels: { boxWidth?: number } } };
  scales: Record<string, Scale>;
}

/** Every so many, so that few enough remain; the first is one of them. */
function thinned<T>(ticks: readonly T[]): T[] {
  const step = Math.ceil(ticks.length / MAX_TICKS);
  return ticks.filter((_, index) => index % step === 0);
}

/** A copy of which texts wrap and ticks are fewer, so that it fits a phone. */
export function forPhone(config: Config): Config {
  const own = structuredClone(config);
  const options = own["options"] as PhoneOptions;
  const data = own["data"] as { labels?: Label[] };
  const { title, subtitle, legend } = options.plugins;
  options.layout.padding = { left: 4, right: 12, top: 4, bottom: 4 };
  title.text = wrapped(String(title.text), TITLE_LETTERS);
  title.font = { size: TITLE_FONT };
  subtitle.text = wrapped(String(subtitle.text), SUBTITLE_LETTERS);
  legend.labels.boxWidth = Math.min(legend.labels.boxWidth ?? MAX_SAMPLE_PIXELS, MAX_SAMPLE_PIXELS);
  for (const [axis, scale] of Object.entries(options.scales)) {
    if (scale.title !== undefined) {
      scale.title.text = wrapped(String(scale.title.text), AXIS_LETTERS);
      scale.title.font = { size: AXIS_FONT };
    }
    scale.ticks = { ...scale.ticks, font: { size: LABEL_FONT } };
    if (scale.fixedTicks === undefined) continue;
    scale.fixedTicks = axis === "x"
      ? thinned(scale.fixedTicks)
      : scale.fixedTicks.map(({ value, label }) => ({
        value,
        label: wrappedLabel(label, SIDE_LABEL_LETTERS),
      }));
  }
  if (data.labels === undefined) return own;
  if (options.indexAxis === "y") {
    data.labels = data.labels.map((label) => wrappedLabel(label, SIDE_LABEL_LETTERS));
    return own;
  }
  const letters = Math.floor(LABELS_PIXELS / data.labels.length / LETTER_PIXELS);
  const narrow = data.labels.map((label) => wrappedLabel(label, letters));
  if (narrow.flat().every((line) => line.length <= letters)) data.labels = narrow;
  else {
    data.labels = data.labels.map((label) => [label].flat().join(", "));
    const slant = { minRotation: SLANT_DEGREES, maxRotation: 90 };
    options.scales["x"]!.ticks = { ...options.scales["x"]!.ticks, ...slant };
  }
  return own;
}
