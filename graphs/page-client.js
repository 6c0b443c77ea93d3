/**
 * What runs in the page: pickers, theme, and the charts that are shown. It finds `specs`, `darkColors`, `recolored` and
 * `applyFixedTicks` in front of it, and Chart.js.
 */
/* global Chart, specs, darkColors, recolored, applyFixedTicks */
const pickers = {
  scenario: document.getElementById("scenario"),
  runtime: document.getElementById("runtime"),
  theme: document.getElementById("theme"),
};
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const charts = new Map();

const isDark = () =>
  pickers.theme.value === "dark" || (pickers.theme.value === "auto" && darkSystem.matches);

/** Lines under a tooltip's figure: how many samples it is of. */
function samplesOf({ dataset, dataIndex }) {
  const count = dataset.counts?.[dataIndex];
  return typeof count === "number" ? `${count.toLocaleString("en")} samples` : "";
}

function draw({ name, config }) {
  const own = recolored(config, isDark() ? darkColors : {});
  applyFixedTicks(own);
  const { plugins } = own.options;
  // The page has them as text, which wraps on a phone.
  plugins.title.display = plugins.subtitle.display = false;
  plugins.tooltip = { callbacks: { afterLabel: samplesOf } };
  own.options.maintainAspectRatio = false;
  own.options.interaction = { mode: "nearest", intersect: false };
  charts.set(name, new Chart(document.getElementById(name), own));
}

/** Shows the figures that fit the pickers; charts of the others are taken down. */
function show() {
  const { scenario, runtime } = pickers;
  for (const spec of specs) {
    const fits = (scenario.value === "all" || spec.scenario === scenario.value) &&
      (runtime.value === "all" || spec.runtime === undefined || spec.runtime === runtime.value);
    document.getElementById(`figure-${spec.name}`).hidden = !fits;
    if (fits && !charts.has(spec.name)) draw(spec);
    if (!fits) {
      charts.get(spec.name)?.destroy();
      charts.delete(spec.name);
    }
  }
  history.replaceState(null, "", `#${scenario.value}/${runtime.value}`);
}

function paint() {
  const dark = isDark();
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  Chart.defaults.color = dark ? "#dddddd" : "#333333";
  Chart.defaults.borderColor = dark ? "#444444" : "#dddddd";
  for (const chart of charts.values()) chart.destroy();
  charts.clear();
  show();
}

const [scenario, runtime] = location.hash.slice(1).split("/");
for (const [picker, value] of [[pickers.scenario, scenario], [pickers.runtime, runtime]]) {
  if ([...picker.options].some((option) => option.value === value)) picker.value = value;
  picker.addEventListener("change", show);
}
pickers.theme.addEventListener("change", paint);
darkSystem.addEventListener("change", paint);
paint();
