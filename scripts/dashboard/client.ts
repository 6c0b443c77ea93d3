/** The script of the dashboard's page: reads the statistics once a second and shows them. */
import {
  Chart,
  type ChartDataset,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
} from "chart.js";
import type { PoolStatistics } from "../../src/mod.ts";
import { TimeWindow } from "./window.ts";

Chart.register(
  LineController,
  LineElement,
  PointElement,
  LinearScale,
  LogarithmicScale,
  Legend,
  Tooltip,
);

const INTERVAL_MS = 1000;
/** Readings that the charts show. */
const SHOWN = 120;
/** Percentiles are of the calls that have ended in the last so many seconds. */
const WINDOW_S = 30;
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

  /** Times of quick and of slow tasks are seen together on an axis that is logarithmic. */
  constructor(parent: HTMLElement, title: string, type: "linear" | "logarithmic" = "linear") {
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
            ticks: { color, callback: (value) => `${Number(Number(value).toFixed(2))} s` },
            grid: { display: false },
          },
          y: {
            type,
            beginAtZero: type === "linear",
            ticks: { color, format: { minimumFractionDigits: 0, maximumFractionDigits: 6 } },
            title: { display: true, text: title, color },
          },
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

interface Column {
  readonly title: string;
  /** Columns with one title above theirs stand together. */
  readonly group?: string;
}

/** Rows of the head: titles of groups, if there are any, above those of the columns. */
function fillHead(table: HTMLTableElement, columns: readonly Column[]): void {
  const head = element(table, "thead");
  const hasGroups = columns.some(({ group }) => group !== undefined);
  const rows = hasGroups ? [element(head, "tr"), element(head, "tr")] : [element(head, "tr")];
  let last: { readonly title: string; readonly cell: HTMLTableCellElement } | undefined;
  for (const { title, group } of columns) {
    if (group === undefined) {
      element(rows[0]!, "th", title).rowSpan = rows.length;
      continue;
    }
    if (last?.title === group) last.cell.colSpan++;
    else last = { title: group, cell: element(rows[0]!, "th", group) };
    last.cell.className = "group";
    element(rows[1]!, "th", title);
  }
}

function fillTable(
  table: HTMLTableElement,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): void {
  table.replaceChildren();
  fillHead(table, columns);
  const body = element(table, "tbody");
  for (const row of rows) {
    const line = element(body, "tr");
    for (const text of row) element(line, "td", text);
  }
}

const WORKER_COLUMNS: readonly Column[] = [
  { title: "worker" },
  { title: "state" },
  { title: "calls" },
  { title: "running" },
  { title: "last second" },
  { title: "since start" },
  { title: "memory" },
];
const TIMES = [["p50", "p50"], ["p90", "p90"], ["p99", "p99"], ["p99.9", "p999"], [
  "max",
  "max",
]] as const;
const TASK_COLUMNS: readonly Column[] = [
  { title: "task" },
  { title: "calls" },
  { title: "failures" },
  ...["run", "wait"].flatMap((group) =>
    TIMES.map(([title]) => ({ title, group: `${group}, ms, last ${WINDOW_S} s` }))
  ),
];

/** Times of a task in the window. */
class TaskTimes {
  readonly #run = new TimeWindow(WINDOW_S);
  readonly #wait = new TimeWindow(WINDOW_S);

  add(seconds: number, { run, wait }: PoolStatistics["tasks"][number]) {
    return {
      run: this.#run.add(seconds, run?.histogram),
      wait: this.#wait.add(seconds, wait?.histogram),
    };
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
  readonly #times = new Map<string, TaskTimes>();
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
    this.#latency = new History(charts, `run p99 in ms, last ${WINDOW_S} s`, "logarithmic");
    const table = (): HTMLTableElement => {
      const box = element(section, "div");
      box.className = "table";
      return element(box, "table");
    };
    this.#workers = table();
    this.#tasks = table();
  }

  show(seconds: number, stats: PoolStatistics): void {
    const { completed, failed, queued, running, workers } = stats;
    this.#showFigures(stats);
    const settled = completed + failed;
    if (this.#before !== undefined) {
      const rate = (settled - this.#before.settled) / (seconds - this.#before.seconds);
      this.#rate.add(seconds, { settled: Math.max(0, rate) });
    }
    this.#before = { seconds, settled };
    this.#queue.add(seconds, { queued, running });
    this.#utilization.add(
      seconds,
      Object.fromEntries(workers.map(({ name, utilization }) => [name, 100 * utilization.recent])),
    );
    fillTable(
      this.#workers,
      WORKER_COLUMNS,
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
    this.#showTasks(seconds, stats);
  }

  #showFigures(stats: PoolStatistics): void {
    const { completed, failed, queued, running, timedOut, aborted, refused, retried } = stats;
    const all = {
      completed,
      failed,
      queued,
      running,
      "timed out": timedOut,
      aborted,
      refused,
      retried,
      ready: stats.ready,
      "workers lost": stats.workersLost,
    };
    this.#figures.replaceChildren();
    for (const [label, value] of Object.entries(all)) {
      const box = element(this.#figures, "div");
      element(box, "dt", label);
      element(box, "dd", number.format(value));
    }
  }

  #showTasks(seconds: number, { tasks }: PoolStatistics): void {
    const rows = tasks.map((task) => {
      let times = this.#times.get(task.name);
      if (times === undefined) this.#times.set(task.name, times = new TaskTimes());
      return { ...task, ...times.add(seconds, task) };
    });
    this.#latency.add(seconds, Object.fromEntries(rows.map(({ name, run }) => [name, run?.p99])));
    fillTable(
      this.#tasks,
      TASK_COLUMNS,
      rows.filter(({ calls }) => calls > 0).map(({ name, calls, failures, run, wait }) => [
        name,
        number.format(calls),
        number.format(failures),
        ...[run, wait].flatMap((times) => TIMES.map(([, key]) => ms(times?.[key]))),
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
    state.textContent = `Read ${
      new Date().toLocaleTimeString()
    }. Times of tasks need metrics: true.`;
  } catch (error) {
    state.textContent = `No answer from the server: ${(error as Error).message}`;
  }
  setTimeout(() => void read(), INTERVAL_MS);
}

void read();
