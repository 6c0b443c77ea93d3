/** The script of the dashboard's page: reads the statistics once a second and shows them. */
import {
  Chart,
  type ChartDataset,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
} from "chart.js";
import type { PoolStatistics } from "../../src/mod.ts";

Chart.register(LineController, LineElement, PointElement, LinearScale, Legend, Tooltip);

const INTERVAL_MS = 1000;
/** Readings that the charts show. */
const SHOWN = 120;
const COLORS = ["#3b82f6", "#f97316", "#10b981", "#a855f7", "#ef4444", "#eab308", "#14b8a6"];

const [state, main] = ["state", "pools"].map((id) => document.getElementById(id)!) as [
  HTMLElement,
  HTMLElement,
];
/** The page may be mounted at any path, with a slash at its end or without. */
const statsUrl = `${location.pathname.replace(/\/$/, "")}/stats.json`;

function element<Name extends keyof HTMLElementTagNameMap>(
  parent: HTMLElement,
  name: Name,
  text = "",
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
}

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const ms = (value: number | undefined): string =>
  value === undefined ? "–" : value >= 100 ? value.toFixed(0) : value.toPrecision(3);
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const mebibytes = (bytes: number | undefined): string =>
  bytes === undefined ? "–" : `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Lines over the last readings; a line that is new begins with the present one. */
class History {
  readonly #chart: Chart<"line", { x: number; y: number }[]>;
  readonly #lines = new Map<string, ChartDataset<"line", { x: number; y: number }[]>>();

  constructor(parent: HTMLElement, title: string) {
    const box = element(parent, "div");
    box.className = "chart";
    const canvas = element(box, "canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", title);
    const color = getComputedStyle(document.body).color;
    this.#chart = new Chart(canvas, {
      type: "line",
      data: { datasets: [] },
      options: {
        animation: false,
        maintainAspectRatio: false,
        elements: { point: { radius: 0, hitRadius: 8 }, line: { borderWidth: 2 } },
        scales: {
          x: {
            type: "linear",
            ticks: { color, callback: (value) => `${value} s` },
            grid: { display: false },
          },
          y: { beginAtZero: true, ticks: { color }, title: { display: true, text: title, color } },
        },
        plugins: { legend: { labels: { color, boxWidth: 12 } } },
      },
    });
  }

  /** Workers come and go: lines that have ended leave the chart with their last point. */
  #forgetEnded(seconds: number): void {
    for (const [label, line] of this.#lines) {
      line.data = line.data.filter(({ x }) => x > seconds - SHOWN);
      if (line.data.length === 0) this.#lines.delete(label);
    }
    this.#chart.data.datasets = [...this.#lines.values()];
  }

  add(seconds: number, values: Readonly<Record<string, number | undefined>>): void {
    for (const [label, y] of Object.entries(values)) {
      if (y === undefined) continue;
      let line = this.#lines.get(label);
      if (line === undefined) {
        const color = COLORS[this.#lines.size % COLORS.length]!;
        line = { label, data: [], borderColor: color, backgroundColor: color };
        this.#lines.set(label, line);
      }
      line.data.push({ x: Math.round(seconds), y });
      if (line.data.length > SHOWN) line.data.shift();
    }
    this.#forgetEnded(seconds);
    this.#chart.update("none");
  }
}

function fillTable(
  table: HTMLTableElement,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  table.replaceChildren();
  const headRow = element(element(table, "thead"), "tr");
  for (const text of head) element(headRow, "th", text);
  const body = element(table, "tbody");
  for (const row of rows) {
    const line = element(body, "tr");
    for (const text of row) element(line, "td", text);
  }
}

class PoolView {
  readonly #figures: HTMLElement;
  readonly #workers: HTMLTableElement;
  readonly #tasks: HTMLTableElement;
  readonly #rate: History;
  readonly #queue: History;
  readonly #utilization: History;
  readonly #latency: History;
  #before: { readonly seconds: number; readonly settled: number } | undefined;

  constructor(name: string) {
    const section = element(main, "section");
    element(section, "h2", name);
    this.#figures = element(section, "dl");
    const charts = element(section, "div");
    charts.className = "charts";
    this.#rate = new History(charts, "calls per second");
    this.#queue = new History(charts, "calls");
    this.#utilization = new History(charts, "utilization in %");
    this.#latency = new History(charts, "p99 of run times in ms");
    const table = (): HTMLTableElement => {
      const box = element(section, "div");
      box.className = "table";
      return element(box, "table");
    };
    this.#workers = table();
    this.#tasks = table();
  }

  show(seconds: number, stats: PoolStatistics): void {
    const { completed, failed, queued, running, workers, tasks } = stats;
    const shown = { completed, failed, queued, running };
    const { timedOut, aborted, retried, ready, workersLost } = stats;
    this.#figures.replaceChildren();
    const all = {
      ...shown,
      "timed out": timedOut,
      aborted,
      retried,
      ready,
      "workers lost": workersLost,
    };
    for (const [label, value] of Object.entries(all)) {
      const box = element(this.#figures, "div");
      element(box, "dt", label);
      element(box, "dd", number.format(value));
    }
    const settled = completed + failed;
    if (this.#before !== undefined) {
      const rate = (settled - this.#before.settled) / (seconds - this.#before.seconds);
      this.#rate.add(seconds, { settled: rate });
    }
    this.#before = { seconds, settled };
    this.#queue.add(seconds, { queued, running });
    this.#utilization.add(
      seconds,
      Object.fromEntries(workers.map(({ name, utilization }) => [name, 100 * utilization.recent])),
    );
    this.#latency.add(seconds, Object.fromEntries(tasks.map(({ name, run }) => [name, run?.p99])));
    fillTable(
      this.#workers,
      ["worker", "state", "calls", "running", "last second", "since start", "memory"],
      workers.map(({ name, state, calls, running: has, utilization, memoryBytes }) => [
        name,
        state,
        number.format(calls),
        number.format(has),
        percent(utilization.recent),
        percent(utilization.total),
        mebibytes(memoryBytes),
      ]),
    );
    const times = ["p50", "p90", "p99", "p999", "max"] as const;
    fillTable(
      this.#tasks,
      [
        "task",
        "calls",
        "failures",
        ...times.map((time) => `run ${time}`),
        ...times.map((time) => `wait ${time}`),
      ],
      tasks.filter(({ calls }) => calls > 0).map(({ name, calls, failures, run, wait }) => [
        name,
        number.format(calls),
        number.format(failures),
        ...times.map((time) => ms(run?.[time])),
        ...times.map((time) => ms(wait?.[time])),
      ]),
    );
  }
}

const views = new Map<string, PoolView>();

async function read(): Promise<void> {
  try {
    const response = await fetch(statsUrl);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const pools = await response.json() as Record<string, PoolStatistics>;
    for (const [name, stats] of Object.entries(pools)) {
      let view = views.get(name);
      if (view === undefined) views.set(name, view = new PoolView(name));
      view.show(performance.now() / 1000, stats);
    }
    state.textContent =
      `Read ${new Date().toLocaleTimeString()}. Times of tasks in milliseconds; ` +
      "they need metrics: true.";
  } catch (error) {
    state.textContent = `No answer from the server: ${(error as Error).message}`;
  }
  setTimeout(() => void read(), INTERVAL_MS);
}

void read();
