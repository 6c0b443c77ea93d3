/**
 * Statistics of pools in Prometheus' text format, version 0.0.4: the lines of one metric stand together, after its help and
 * its type.
 */
import type {
  PoolStatistics,
  TimeStatistics,
} from "../features/watching/observe/host/pool-statistics.ts";

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Readonly<Record<string, string | number>>;
type Sample = readonly [labels: Labels, value: number, suffix?: string];

interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Its samples of one pool. */
  readonly read: (stats: PoolStatistics) => readonly Sample[];
}

const one = (value: number): readonly Sample[] => [[{}, value]];

const STATES = ["starting", "idle", "busy", "draining", "closing"] as const;

const METRICS: readonly Metric[] = [
  {
    name: "heddle_calls_total",
    type: "counter",
    help: "Settled calls by task and outcome; without a task: calls whose task was never known.",
    read: ({ tasks, failed }) => [
      ...tasks.flatMap(({ name: task, calls, failures }): Sample[] => [
        [{ task, outcome: "completed" }, calls - failures],
        [{ task, outcome: "failed" }, failures],
      ]),
      [{ task: "", outcome: "failed" }, tasks.reduce((left, task) => left - task.failures, failed)],
    ],
  },
  {
    name: "heddle_calls_timed_out_total",
    type: "counter",
    help: "Calls whose time limit expired.",
    read: ({ timedOut }) => one(timedOut),
  },
  {
    name: "heddle_calls_aborted_total",
    type: "counter",
    help: "Calls aborted by their callers.",
    read: ({ aborted }) => one(aborted),
  },
  {
    name: "heddle_calls_refused_total",
    type: "counter",
    help: "Calls rejected because maxQueue others were waiting.",
    read: ({ refused }) => one(refused),
  },
  {
    name: "heddle_calls_retried_total",
    type: "counter",
    help: "Repetitions of calls whose worker was lost.",
    read: ({ retried }) => one(retried),
  },
  {
    name: "heddle_calls_queued",
    type: "gauge",
    help: "Calls that wait on the host for a worker.",
    read: ({ queued }) => one(queued),
  },
  {
    name: "heddle_calls_running",
    type: "gauge",
    help: "Calls that workers have.",
    read: ({ running }) => one(running),
  },
  {
    name: "heddle_workers",
    type: "gauge",
    help: "Workers by state.",
    read: ({ workers }) =>
      STATES.map((state) => [{ state }, workers.filter((worker) => worker.state === state).length]),
  },
  {
    name: "heddle_workers_started_total",
    type: "counter",
    help: "Workers started.",
    read: ({ workersStarted }) => one(workersStarted),
  },
  {
    name: "heddle_workers_lost_total",
    type: "counter",
    help: "Workers that ended unexpectedly.",
    read: ({ workersLost }) => one(workersLost),
  },
  {
    name: "heddle_worker_utilization_ratio",
    type: "gauge",
    help: "Share of the last one to two seconds in which a worker had calls or looked for them.",
    read: ({ workers }) =>
      workers.map(({ id: worker, utilization }) => [{ worker }, utilization.recent]),
  },
  {
    name: "heddle_worker_memory_bytes",
    type: "gauge",
    help: "Heap and buffers of a worker when it last measured them.",
    read: ({ workers }) =>
      workers.flatMap(({ id: worker, memoryBytes }): Sample[] =>
        memoryBytes === undefined ? [] : [[{ worker }, memoryBytes]]
      ),
  },
  {
    name: "heddle_task_wait_seconds",
    type: "histogram",
    help: "Time from a call until its task begins (metrics: true).",
    read: ({ tasks }) => tasks.flatMap(({ name, wait }) => histogramOf(name, wait)),
  },
  {
    name: "heddle_task_run_seconds",
    type: "histogram",
    help: "Run time of a task, awaits included (metrics: true).",
    read: ({ tasks }) => tasks.flatMap(({ name, run }) => histogramOf(name, run)),
  },
];

/** Upper bounds of the buckets, in seconds. They never change, as Prometheus needs it to take differences and sums. */
const BOUNDS: readonly number[] = [
  ...[-5, -4, -3, -2, -1, 0].flatMap((power) =>
    [1, 2.5, 5].map((digit) => Number(`${digit}e${power}`))
  ),
  10,
  60,
];

function histogramOf(task: string, times: TimeStatistics | undefined): Sample[] {
  if (times === undefined) return [];
  const { mean, count, histogram } = times;
  const samples: Sample[] = [];
  let [below, next] = [0, 0];
  for (const le of BOUNDS) {
    for (; next < histogram.length && histogram[next]![0] <= 1000 * le; next++) {
      below += histogram[next]![1];
    }
    samples.push([{ task, le }, below, "_bucket"]);
  }
  return [
    ...samples,
    [{ task, le: "+Inf" }, count, "_bucket"],
    [{ task }, mean * count / 1000, "_sum"],
    [{ task }, count, "_count"],
  ];
}

/** The metrics of pools by name. */
export function toPrometheus(pools: readonly (readonly [string, PoolStatistics])[]): string {
  const lines: string[] = [];
  for (const { name, type, help, read } of METRICS) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [pool, stats] of pools) {
      for (const [labels, value, suffix = ""] of read(stats)) {
        lines.push(`${name}${suffix}{${formatLabels({ pool, ...labels })}} ${value}`);
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

function formatLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(String(value))}"`)
    .join(",");
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
