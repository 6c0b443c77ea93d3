/**
 * Renders the charts from `results/`: a PNG each, and all of them in one page that works from disk.
 * Nothing is measured or computed here that is not in the result files.
 */
import { createCanvas } from "@napi-rs/canvas";
import { Chart, type ChartConfiguration, registerables } from "chart.js";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import { browserCharts } from "./browser-charts.ts";
import { heavyLoadChart, latencyChart } from "./charts.ts";
import { adapterCharts, hotCharts, processCharts } from "./hot-charts.ts";
import { httpCharts, httpSoakCharts } from "./http-charts.ts";
import { renderPage } from "./page.ts";
import { ipcCharts } from "./ipc-charts.ts";
import {
  DARK_COLORS,
  forPhone,
  groundOf,
  LIGHT,
  type Look,
  OTHER_LOOKS,
  PHONE_HEIGHT,
  PHONE_MORE_HEIGHT,
  PHONE_PIXEL_RATIO,
  PHONE_WIDTH,
  recolored,
} from "./looks.ts";
import { codecCharts, payloadGrowthCharts, typesCharts } from "./payload-charts.ts";
import { burstCharts, fanOutCharts, idleCostCharts, mixedLoadCharts } from "./scheduling-charts.ts";
import { clientCharts } from "./clients-charts.ts";
import { coldCharts } from "./cold-charts.ts";
import { concurrencyCharts } from "./concurrency-charts.ts";
import { natsCharts } from "./nats-charts.ts";
import { overviewChart } from "./overview-charts.ts";
import { programCharts } from "./programs-charts.ts";
import { sharedCharts } from "./shared-charts.ts";
import { soakCharts } from "./soak-charts.ts";
import { streamsCharts } from "./streams-charts.ts";
import { contendedCharts, sporadicCharts } from "./sporadic-charts.ts";
import type { ChartSpec } from "./style.ts";
import { applyFixedTicks } from "./ticks.ts";
import { tokioCharts } from "./tokio-charts.ts";
import { latenessCharts, threadSweepCharts } from "./waiting-charts.ts";

const RUNTIMES = ["node", "deno", "bun"] as const;
const WIDTH = 960;
const HEIGHT = 520;

Chart.register(...registerables);
Object.assign(Chart.defaults, { animation: false, responsive: false, devicePixelRatio: 1 });
Chart.defaults.font.family = "DejaVu Sans, sans-serif";

function readResult(
  results: string,
  runtime: string,
  scenario: string,
): ScenarioResult | undefined {
  const file = `${results}${runtime}/${scenario}.json`;
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as ScenarioResult : undefined;
}

/** Charts of the scenarios that have some per runtime. */
const RUNTIME_CHARTS = {
  "hot": hotCharts,
  "adapter": adapterCharts,
  "processes": processCharts,
  "types": typesCharts,
  "payload-growth": payloadGrowthCharts,
  "codec": codecCharts,
  "streams": streamsCharts,
  "sporadic": sporadicCharts,
  "contended": contendedCharts,
  "lateness": latenessCharts,
  "thread-sweep": threadSweepCharts,
} as const;

/** Charts of the scenarios that have all runtimes in each, and programs in other languages if there are some. */
const SHARED_CHARTS = {
  "ipc": ipcCharts,
  "heavy-load": heavyLoadChart,
  "idle-cost": idleCostCharts,
  "burst": burstCharts,
  "mixed-load": mixedLoadCharts,
  "fan-out": fanOutCharts,
  "cold": coldCharts,
  "soak": soakCharts,
  "http": httpCharts,
  "http-soak": httpSoakCharts,
  "concurrency": concurrencyCharts,
  "programs": programCharts,
  "nats": natsCharts,
  "shared": sharedCharts,
} as const;

/** Charts of every scenario there are results for, the overview first. */
function chartsOf(results: string): ChartSpec[] {
  const resultsOf = (scenario: string): ScenarioResult[] =>
    RUNTIMES.map((runtime) => readResult(results, runtime, scenario))
      .filter((result) => result !== undefined);
  const tokio = readResult(results, "tokio", "latency");
  const specs = RUNTIMES.flatMap((runtime) => {
    const [hot, sporadic, cold] = ["hot", "sporadic", "cold"]
      .map((scenario) => readResult(results, runtime, scenario));
    return hot && sporadic && cold ? overviewChart({ hot, sporadic, cold }) : [];
  });
  specs.push(...resultsOf("latency").flatMap((latency) => latencyChart(latency, tokio)));
  specs.push(
    ...tokioCharts(
      resultsOf("latency"),
      resultsOf("tokio"),
      tokio,
      readResult(results, "tokio", "tokio"),
    ),
  );
  for (const [scenario, charts] of Object.entries(SHARED_CHARTS)) {
    const native = readResult(results, "native", scenario);
    const all = [...resultsOf(scenario), ...(native === undefined ? [] : [native])];
    if (all.length > 0) specs.push(...charts(all));
  }
  const browser = readResult(results, "browser", "browser");
  if (browser !== undefined) specs.push(...browserCharts([browser]));
  for (const [scenario, charts] of Object.entries(RUNTIME_CHARTS)) {
    specs.push(...resultsOf(scenario).flatMap(charts));
  }
  const programs = `${results}../docs/programs.md`;
  if (existsSync(programs)) specs.push(...clientCharts(readFileSync(programs, "utf8")));
  return specs;
}

/** Writes every chart there are results for; both folders end with a slash. Returns the files written. */
export function renderGraphs(results: string, folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const specs = chartsOf(results);
  const files = specs.map((spec) => writePng(folder, spec, LIGHT));
  if (specs.length > 0) {
    const page = `${folder}index.html`;
    writeFileSync(page, renderPage(specs));
    files.push(page);
  }
  return Promise.resolve(files);
}

/** Writes every chart in all looks but the light, wide one: those of the site. The folder exists and ends with a slash. */
export function renderOtherLooks(results: string, folder: string): void {
  for (const spec of chartsOf(results)) {
    for (const look of OTHER_LOOKS) writePng(folder, spec, look);
  }
}

function writePng(folder: string, spec: ChartSpec, look: Look): string {
  const file = `${folder}${spec.name}${look.suffix}.png`;
  writeFileSync(file, renderPng(spec, look));
  return file;
}

const sizeOf = ({ height }: ChartSpec, { isPhone }: Look): [number, number] =>
  isPhone
    ? [PHONE_WIDTH, height === undefined ? PHONE_HEIGHT : height + PHONE_MORE_HEIGHT]
    : [WIDTH, height ?? HEIGHT];

function renderPng(spec: ChartSpec, look: Look): Buffer {
  const [width, height] = sizeOf(spec, look);
  const canvas = createCanvas(width, height);
  const { background, text, lines } = groundOf(look);
  const config = recolored(
    look.isPhone ? forPhone(spec.config) : spec.config,
    look.isDark ? DARK_COLORS : {},
  );
  applyFixedTicks(config);
  if (look.isPhone) Object.assign(config["options"]!, { devicePixelRatio: PHONE_PIXEL_RATIO });
  Object.assign(Chart.defaults, { color: text, borderColor: lines });
  const ground = {
    id: "ground",
    beforeDraw: ({ ctx }: { ctx: CanvasRenderingContext2D }) => {
      ctx.save();
      ctx.fillStyle = background;
      ctx.fillRect(0, 0, width, height);
      ctx.restore();
    },
  };
  const context = canvas.getContext("2d") as unknown as CanvasRenderingContext2D;
  const chart = new Chart(
    context,
    { ...config, plugins: [ground] } as unknown as ChartConfiguration,
  );
  const png = canvas.toBuffer("image/png");
  chart.destroy();
  return png;
}
