/** Scenarios of whole programs: other processes, other languages, servers, browsers. */
import os from "node:os";
import { fetchNatsServer, findNatsServer } from "../../scripts/nats-server.ts";
import { hasBrowser } from "../../tests/support/browser.ts";
import { isSamePlace, toBaseline, toReference } from "../harness/derived.ts";
import { ratios, SAMPLES, type TableSpec, withUnits } from "../harness/row-table.ts";
import { concurrencyTable, httpTable } from "../harness/special-tables.ts";
import { isBuilt } from "../http/native-servers.ts";
import { LANGUAGES, languageVersions } from "../programs/languages.ts";
import { byName, named, withVariant } from "../runner/one-worker.ts";
import { type Choices, type Contender, type Scenarios, SCRIPTS } from "../runner/scenario.ts";
import { crateVersions, hasCargo } from "../runner/tokio.ts";
import * as browser from "../scenarios/browser-cases.ts";
import * as concurrency from "../scenarios/concurrency-cases.ts";
import * as http from "../scenarios/http-cases.ts";
import * as nats from "../scenarios/nats-cases.ts";
import * as programs from "../scenarios/programs-cases.ts";
import * as shared from "../scenarios/shared-cases.ts";
import * as streams from "../scenarios/streams-cases.ts";

/** Python takes minutes for all programs. */
const PROGRAMS_TIMEOUT_MS = 1_800_000;
/** The first process may build programs in other languages, or a server. */
const BUILD_TIMEOUT_MS = 600_000;
/** All contenders in turn, of which one may take a minute. */
const CONCURRENCY_TIMEOUT_MS = 400_000;
const CONCURRENCY_TIMEOUT_DELAYS = 100;

const NATIVE = [...SCRIPTS, "native"];
const soakTimeoutMs = ({ soakMinutes }: Choices): number => soakMinutes * 60_000 + 120_000;
const SOAK_TABLE: TableSpec = {
  keys: ["", "contender", "minute"],
  columns: withUnits("p50", "p99", "mean"),
};

/** One process, in which all take turns. */
const together = (names: readonly string[]): Contender => ({
  name: "all in turn",
  variantOf: names.join(", "),
  args: [],
});

/** Languages run as `native`; a list that is asked for has all of them. */
function programContenders({ isQuick, threads }: Choices, runtime: string): readonly Contender[] {
  const { JAVASCRIPT, HEDDLE, BARE_WORKER, GOROUTINES, heddleWith, workerCounts } = programs;
  const native = [...LANGUAGES.map(({ name }) => byName(name)), byName(GOROUTINES)];
  if (runtime === "native") return native;
  const counts = isQuick ? [threads] : workerCounts(threads);
  const scripts: readonly Contender[] = [
    byName(JAVASCRIPT),
    ...counts.map((count) => ({
      name: heddleWith(count),
      variantOf: HEDDLE,
      args: ["--contender", HEDDLE, "--threads", String(count)],
    })),
    byName(HEDDLE),
    byName(BARE_WORKER),
  ];
  return runtime === "" ? [...scripts, ...native] : scripts;
}

/** Versions of Go and Rust, where they are measured. */
function sharedVersions(): Readonly<Record<string, string>> {
  const { Go, Rust } = languageVersions();
  return {
    ...(Go === undefined ? {} : { Go }),
    ...(hasCargo() ? { ...(Rust === undefined ? {} : { Rust }), ...crateVersions() } : {}),
  };
}

/** Left out where there is no server and none can be fetched. */
function natsContenders(_: Choices, runtime: string): readonly Contender[] {
  // A list of scenarios fetches nothing.
  const found = runtime === "" ? findNatsServer() : fetchNatsServer();
  const left = "path" in found ? {} : { left: found.reason };
  return nats.CONTENDERS.map((name) => ({ ...byName(name), ...left }));
}

/** A process for each table and number of tasks, which starts all contenders in turn. */
function concurrencyContenders({ isQuick, delayMs }: Choices): readonly Contender[] {
  const { WAITING, COMPUTING, PLAIN, THREADS, GO, PYTHON } = concurrency;
  const heddle = concurrency.heddleWith(os.availableParallelism());
  const process = (table: concurrency.ConcurrencyTable, tasks: number): Contender => ({
    name: `${table}, ${tasks} tasks`,
    variantOf: [heddle, PLAIN, THREADS, GO, PYTHON].join(", "),
    args: ["--contender", table, "--variant", String(tasks), "--delay-ms", String(delayMs)],
  });
  const { QUICK_TASK_COUNTS, TASK_COUNTS, QUICK_COMPUTING_TASKS, COMPUTING_TASKS } = concurrency;
  return [
    ...(isQuick ? QUICK_TASK_COUNTS : TASK_COUNTS).map((tasks) => process(WAITING, tasks)),
    process(COMPUTING, isQuick ? QUICK_COMPUTING_TASKS : COMPUTING_TASKS),
  ];
}

/** The number in what a toolchain says about its version. */
function concurrencyVersions(runtime: string): Readonly<Record<string, string>> {
  if (runtime !== "native") return {};
  const { Go, Python } = languageVersions();
  return Object.fromEntries(
    Object.entries({ Go, Python }).flatMap(([name, text]) => {
      const [version] = /\d+(\.\d+)+/.exec(text ?? "") ?? [];
      return version === undefined ? [] : [[name, version]];
    }),
  );
}

const variantOf = (name: string, variant: string): Contender => withVariant(byName(name), variant);

/** Fresh processes that alternate round by round. */
const shortTasks = (names: readonly string[]): readonly Contender[] =>
  names.map((name) => ({
    ...variantOf(name, http.SHORT_TASKS),
    ...(name === http.SHORT_TASK_POOLS.piscina ? { isPeer: true } : {}),
  }));

function httpContenders({ isQuick }: Choices, runtime: string): readonly Contender[] {
  const { GETS, WEBSOCKETS, MIXED, HEDDLE_WORKERS, ONE_THREAD, CLUSTER, FASTIFY } = http;
  // Of the servers in other languages, only plain text and JSON are measured.
  if (runtime === "native") {
    const left = "not in a quick run: building it takes longer than the run";
    return (isQuick ? [http.GO] : [http.GO, http.HYPER]).map((name) => ({
      ...variantOf(name, GETS),
      name,
      ...(isQuick && !isBuilt(name) ? { left } : {}),
    }));
  }
  const isOnNode = runtime === "node" || runtime === "";
  // A quick run leaves out all that shows nothing new about the programs.
  if (isQuick && runtime !== "") {
    const { heddle, bareWorkers } = http.SHORT_TASK_POOLS;
    return [
      variantOf(HEDDLE_WORKERS, GETS),
      variantOf(HEDDLE_WORKERS, WEBSOCKETS),
      ...(isOnNode ? [variantOf(MIXED, MIXED)] : []),
      ...shortTasks([heddle, bareWorkers]),
    ];
  }
  const servers = [ONE_THREAD, HEDDLE_WORKERS];
  return [
    ...[...servers, ...(isOnNode ? [CLUSTER, FASTIFY] : [])].map((name) => variantOf(name, GETS)),
    ...servers.map((name) => variantOf(name, WEBSOCKETS)),
    variantOf(MIXED, MIXED),
    ...shortTasks(http.SHORT_TASK_CONTENDERS),
  ];
}

export const PROGRAMS: Scenarios = {
  "programs": {
    about: "seven small programs as whole processes, beside C, Rust, Go and Python; worker costs",
    rounds: [1, 2],
    isPooled: true,
    contenders: programContenders,
    derived: [toBaseline("C")],
    on: NATIVE,
    timeoutMs: () => PROGRAMS_TIMEOUT_MS,
    versions: (runtime) => runtime === "native" ? languageVersions() : {},
    table: {
      keys: ["", "contender", "size"],
      columns: [
        ...withUnits(["min", "best"], ["p50", "median"]),
        ratios("median × C", "ratioToBaseline"),
        SAMPLES,
      ],
      note:
        "Size: argument of the program; workers; messages in flight. Seconds, processor time and peak memory are of whole\n" +
        "processes. Source: bytes in gzip. Utilisation: a sample for each worker; best is the lowest.",
    },
  },
  "streams": {
    about: "items through one stream each way; a task for a million numbers; memory",
    rounds: [1, 2],
    contenders: ({ isQuick }) => [
      ...["heddle", "postMessage", streams.BY_MAP, streams.BY_CALLS].map(byName),
      ...(isQuick ? [] : named("Readable over a port", streams.MEMORY_CONTENDER)()),
    ],
    derived: [
      toBaseline("postMessage"),
      toReference((candidate, of) =>
        candidate.contender === streams.BY_CALLS && of.contender === streams.BY_MAP
      ),
    ],
    table: {
      keys: ["case", "contender", ""],
      size: ({ size, case: name }) => name.startsWith("memory") ? String(size) : "",
      columns: [
        ...withUnits("p50", "min"),
        ratios("p50 × postMessage", "ratioToBaseline"),
        ratios("p50 × calls", "ratioToReference"),
        SAMPLES,
      ],
      note: "Time for each item, from the first call to the last item.",
    },
  },
  "shared": {
    about: "maps, channels and mutexes of heddle/shared beside calls, the raw ring, Go and Rust",
    rounds: [1, 3],
    contenders: () => [together(shared.CONTENDERS)],
    // Channels against the raw ring, maps against a call.
    derived: [
      toBaseline(shared.RING),
      toReference((candidate, of) =>
        candidate.contender === shared.CALL && isSamePlace(candidate, of)
      ),
    ],
    versions: sharedVersions,
    timeoutMs: () => BUILD_TIMEOUT_MS,
    table: {
      keys: ["case", "contender", "bytes, or threads"],
      columns: [
        ...withUnits("p50", ["min", "lowest"]),
        ratios("p50 × raw ring", "ratioToBaseline"),
        ratios("p50 × hot call", "ratioToReference"),
        SAMPLES,
      ],
      note:
        "Time of each operation; for channels, of sending and receiving a value. A sample is the mean of a turn.",
    },
  },
  "browser": {
    on: ["browser"],
    about: "calls of a web worker from a page, by shared memory and by messages",
    rounds: [1, 3],
    contenders: () => [{
      ...together(browser.CONTENDERS),
      ...(hasBrowser ? {} : { left: "there is no Chromium for this system" }),
    }],
    derived: [toBaseline(browser.BARE)],
    timeoutMs: () => 300_000,
    table: {
      keys: ["case", "contender", "calls at once"],
      columns: [
        ...withUnits("p50", "p99"),
        ratios("p50 × bare worker", "ratioToBaseline"),
        SAMPLES,
      ],
      note:
        "Time of a call, or of a new worker until its first result. A sample is the mean of a block of calls.",
    },
  },
  "nats": {
    about:
      "calls to other processes over NATS beside bare requests; calls a second with 1, 2, 4 machines",
    rounds: [1, 3],
    contenders: natsContenders,
    derived: [toBaseline(nats.RAW)],
    timeoutMs: () => BUILD_TIMEOUT_MS,
    table: {
      keys: ["case", "contender", "at once, or machines"],
      columns: [...withUnits("p50", "p99"), ratios("p50 × raw NATS", "ratioToBaseline"), SAMPLES],
      note:
        "Echoes: time for each call, the mean of a batch. With 100 at once it is the reciprocal of calls a second.",
    },
  },
  "concurrency": {
    about: "100 to 1,000 tasks of five slow requests each at once: wall time, memory, all cores",
    // Each process takes turns of its own.
    rounds: [1, 1],
    contenders: concurrencyContenders,
    derived: [toBaseline(concurrency.PLAIN)],
    on: NATIVE,
    versions: concurrencyVersions,
    timeoutMs: ({ delayMs }) => CONCURRENCY_TIMEOUT_MS + CONCURRENCY_TIMEOUT_DELAYS * delayMs,
    table: concurrencyTable,
  },
  "soak": {
    about: "mixed calls for 10 minutes (--soak-minutes): latency and memory minute by minute",
    rounds: [1, 1],
    contenders: ({ soakMinutes }) => [
      { name: "heddle", args: ["--contender", "heddle", "--minutes", String(soakMinutes)] },
    ],
    derived: [],
    when: "named",
    timeoutMs: soakTimeoutMs,
    table: SOAK_TABLE,
  },
  "http": {
    about:
      "web servers: one thread, workers that each listen, websockets, light beside heavy requests",
    rounds: [1, 3],
    isPooled: true,
    contenders: httpContenders,
    derived: [
      toReference((candidate, of) =>
        candidate.contender === http.ON_MAIN && isSamePlace(candidate, of)
      ),
    ],
    on: NATIVE,
    timeoutMs: () => BUILD_TIMEOUT_MS,
    table: httpTable,
  },
  "http-soak": {
    about: "a web server that computes in a pool (--soak-minutes): memory and latency by minute",
    rounds: [1, 1],
    contenders: ({ soakMinutes }) => [
      { name: http.SOAK_CONTENDER, args: ["--minutes", String(soakMinutes)] },
    ],
    derived: [],
    when: "named",
    timeoutMs: soakTimeoutMs,
    table: SOAK_TABLE,
  },
};
