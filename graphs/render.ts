/**
 * Renders the charts from `results/`: a PNG each, and all of them in one page that works from disk.
 * Nothing is measured or computed here that is not in the result files.
 */
import { createCanvas } from "@napi-rs/canvas";
import { Chart, type ChartConfiguration, registerables } from "chart.js";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import { type ChartSpec, heavyLoadChart, latencyChart } from "./charts.ts";
import { renderPage } from "./page.ts";

const folder = fileURLToPath(new URL("./", import.meta.url));
const results = fileURLToPath(new URL("../results/", import.meta.url));
const RUNTIMES = ["node", "deno", "bun"] as const;
const WIDTH = 960;
const HEIGHT = 520;

Chart.register(...registerables);
Object.assign(Chart.defaults, { animation: false, responsive: false, devicePixelRatio: 1 });
Chart.defaults.font.family = "DejaVu Sans, sans-serif";

function readResult(runtime: string, scenario: string): ScenarioResult | undefined {
  const file = `${results}${runtime}/${scenario}.json`;
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as ScenarioResult : undefined;
}

/** Writes every chart there are results for; returns the files written. */
export function renderGraphs(): Promise<string[]> {
  const specs: ChartSpec[] = [];
  const tokio = readResult("tokio", "latency");
  for (const runtime of RUNTIMES) {
    const latency = readResult(runtime, "latency");
    if (latency !== undefined) specs.push(...latencyChart(latency, tokio));
  }
  const loads = RUNTIMES.map((runtime) => readResult(runtime, "heavy-load"))
    .filter((result) => result !== undefined);
  if (loads.length > 0) specs.push(...heavyLoadChart(loads));
  const files: string[] = [];
  for (const spec of specs) {
    const file = `${folder}${spec.name}.png`;
    writeFileSync(file, renderPng(spec));
    files.push(file);
  }
  if (specs.length > 0) {
    const page = `${folder}index.html`;
    writeFileSync(page, renderPage(specs));
    files.push(page);
  }
  return Promise.resolve(files);
}

/** Ticks at the batches that were measured. The page does the same from its copy of the data. */
function withTicks(config: Record<string, unknown>): Record<string, unknown> {
  const copy = structuredClone(config) as {
    options: { scales: { x: { afterBuildTicks?: unknown } } };
  };
  const { x } = copy.options.scales;
  if (x.afterBuildTicks === "decades") {
    x.afterBuildTicks = (axis: { ticks: { value: number }[] }) => {
      axis.ticks = [1, 10, 100, 1000].map((value) => ({ value }));
    };
  }
  return copy;
}

function renderPng({ config }: ChartSpec): Buffer {
  const canvas = createCanvas(WIDTH, HEIGHT);
  const background = {
    id: "background",
    beforeDraw: ({ ctx }: { ctx: CanvasRenderingContext2D }) => {
      ctx.save();
      ctx.fillStyle = "#ffffff";
      ctx.fillRect(0, 0, WIDTH, HEIGHT);
      ctx.restore();
    },
  };
  const context = canvas.getContext("2d") as unknown as CanvasRenderingContext2D;
  const chart = new Chart(
    context,
    { ...withTicks(config), plugins: [background] } as unknown as ChartConfiguration,
  );
  const png = canvas.toBuffer("image/png");
  chart.destroy();
  return png;
}
