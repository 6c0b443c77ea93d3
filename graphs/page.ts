/** The page with all charts. Chart.js and the data are inside: it works opened from disk. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ChartSpec } from "./style.ts";
import { applyFixedTicks } from "./ticks.ts";

const chartJs = fileURLToPath(
  new URL("../node_modules/chart.js/dist/chart.umd.min.js", import.meta.url),
);

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** JSON that cannot end the script element it stands in. */
const scriptJson = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");

export function renderPage(specs: readonly ChartSpec[]): string {
  const figures = specs.map(({ name, caption, height }) =>
    `<figure><div${
      height === undefined ? "" : ` style="height: ${height}px"`
    }><canvas id="${name}"></canvas></div><figcaption>${escapeHtml(caption)}</figcaption></figure>`
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>heddle benchmarks</title>
<style>
  :root { color-scheme: light dark; font-family: system-ui, sans-serif; }
  body { max-width: 1100px; margin: 0 auto; padding: 1rem; }
  figure { margin: 2rem 0; }
  figure div { position: relative; height: min(60vh, 520px); }
  figcaption { font-size: .85rem; opacity: .75; }
</style>
</head>
<body>
<h1>heddle benchmarks</h1>
<p>Made from <code>results/</code> by <code>./run.sh</code>. Figures are medians over rounds; the axes
say where they are logarithmic. The raw ring floor is what rings and promises cost with nothing around them.</p>
${figures.join("\n")}
<script>${readFileSync(chartJs, "utf8").replaceAll("</script", "<\\/script")}</script>
<script>
const specs = ${scriptJson(specs.map(({ name, config }) => ({ name, config })))};
${applyFixedTicks}
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
Chart.defaults.color = dark ? "#ddd" : "#333";
Chart.defaults.borderColor = dark ? "#444" : "#ddd";
Chart.defaults.maintainAspectRatio = false;
for (const { name, config } of specs) {
  applyFixedTicks(config);
  new Chart(document.getElementById(name), config);
}
</script>
</body>
</html>
`;
}
