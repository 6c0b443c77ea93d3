/** The page with all charts. Chart.js, the script and the data are inside: it works opened from disk. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DARK_COLORS, recolored } from "./looks.ts";
import { meaningOf } from "./meanings.ts";
import type { ChartSpec } from "./style.ts";
import { applyFixedTicks } from "./ticks.ts";

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Text that cannot end the script element it stands in. */
const scriptText = (text: string): string => text.replaceAll("</script", "<\\/script");

/** JSON of which the same holds. */
const scriptJson = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");

const FIRST_SCENARIO = "overview";
/** Pixels of title and legend that the page has outside the canvas, or that wrap. */
const PNG_ONLY_PIXELS = 60;

const titleOf = ({ config }: ChartSpec): string =>
  (config["options"] as { plugins: { title: { text: string } } }).plugins.title.text;

const option = (value: string, label: string, isFirst = false): string =>
  `<option value="${escapeHtml(value)}"${isFirst ? " selected" : ""}>${escapeHtml(label)}</option>`;

function figure(spec: ChartSpec): string {
  const { name, caption, height } = spec;
  const style = height === undefined ? "" : ` style="height: ${height - PNG_ONLY_PIXELS}px"`;
  return `<figure id="figure-${name}" hidden>
<h2>${escapeHtml(titleOf(spec))}</h2>
<div${style}><canvas id="${name}" role="img" aria-label="${
    escapeHtml(titleOf(spec))
  }"></canvas></div>
<figcaption><p>${escapeHtml(meaningOf(name))}</p>${escapeHtml(caption)}</figcaption>
</figure>`;
}

export function renderPage(specs: readonly ChartSpec[]): string {
  const scenarios = [...new Set(specs.map(({ scenario }) => scenario))];
  const runtimes = [...new Set(specs.flatMap(({ runtime = [] }) => runtime))];
  const first = scenarios.includes(FIRST_SCENARIO) ? FIRST_SCENARIO : scenarios[0];
  const data = specs.map(({ name, scenario, runtime, config }) => ({
    name,
    scenario,
    runtime,
    config,
  }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>heddle benchmarks</title>
<style>
  :root { color-scheme: light; font-family: system-ui, sans-serif; background: #fff; color: #222; }
  :root[data-theme="dark"] { color-scheme: dark; background: ${
    DARK_COLORS["#ffffff"]
  }; color: #ddd; }
  body { max-width: 1100px; margin: 0 auto; padding: 1rem; }
  form { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; position: sticky; top: 0; z-index: 1;
    padding: .75rem 0; background: inherit; }
  body { background: inherit; }
  label { display: flex; gap: .5rem; align-items: center; }
  select { font: inherit; padding: .25rem; }
  figure { margin: 2rem 0; }
  figure[hidden] { display: none; }
  figure div { position: relative; height: min(60vh, 520px); min-height: 300px; }
  h2 { font-size: 1.05rem; margin: 0 0 .5rem; }
  figcaption { font-size: .85rem; opacity: .75; }
  figcaption p { font-size: 1rem; margin: .5rem 0; }
</style>
</head>
<body>
<h1>heddle benchmarks</h1>
<p>Made from <code>results/</code> by <code>./run.sh</code>. Figures are medians over rounds; the axes
say where they are logarithmic. The raw ring floor is what rings and promises cost with nothing around
them. More threads than cores are oversubscribed; nothing is extrapolated.</p>
<form>
<label>Scenario <select id="scenario">
${
    [...scenarios.map((name) => option(name, name, name === first)), option("all", "all")].join(
      "\n",
    )
  }
</select></label>
<label>Runtime <select id="runtime">
${[option("all", "all", true), ...runtimes.map((name) => option(name, name))].join("\n")}
</select></label>
<label>Theme <select id="theme">
${option("auto", "as the system", true)}${option("light", "light")}${option("dark", "dark")}
</select></label>
</form>
${specs.map(figure).join("\n")}
<script>${scriptText(read("../node_modules/chart.js/dist/chart.umd.min.js"))}</script>
<script>
const specs = ${scriptJson(data)};
const darkColors = ${scriptJson(DARK_COLORS)};
${applyFixedTicks}
${recolored}
${scriptText(read("./page-client.js"))}
</script>
</body>
</html>
`;
}
