/** Scenarios about waiting, scheduling, and programs that have just started. */
import { KNITTING } from "../contenders/names.ts";
import {
  isWithOneWorker,
  overBaseline,
  perCall,
  tailToBaseline,
  toBaseline,
  toIdeal,
  toReference,
} from "../harness/derived.ts";
import {
  figures,
  optional,
  P999,
  pairedTo,
  PER_CALL,
  ratios,
  type Row,
  SAMPLES,
  withUnits,
} from "../harness/row-table.ts";
import type { Measurement } from "../harness/schema.ts";
import { contendedTable } from "../harness/special-tables.ts";
import { formatUs } from "../harness/units.ts";
import { contendedContenders } from "../runner/contended.ts";
import {
  BARE_WORKER,
  byName,
  inTurn,
  knitting,
  named,
  namedAndKnitting,
  oneWorker,
  withVariant,
} from "../runner/one-worker.ts";
import type { Contender, Scenarios } from "../runner/scenario.ts";
import { COLD_KINDS, QUICK_KINDS } from "../scenarios/cold-cases.ts";
import {
  EVERYDAY_CASES,
  type EverydayCase,
  NO_WORKER,
  WORKER_MEMORY,
} from "../scenarios/everyday-cases.ts";
import { ADAPTER } from "../scenarios/hot-cases.ts";
import { ALONE, BESIDE_LONG, LAST_MICRO, LONG_TASK } from "../scenarios/mixed-cases.ts";
import { SWEPT_WORKERS, workersOf } from "../scenarios/pools-in-turn.ts";
import { NO_CALLS, POISSON } from "../scenarios/sporadic-cases.ts";
import { webWorker, withKnitting } from "./calls.ts";

const RAW_WORKER = "raw worker";
/** Most processes take half a second. */
const COLD_TIMEOUT_MS = 20_000;
const BY_CALLS = ["case", "contender", "calls at once"];

const isOfKnitting = ({ contender }: Measurement): boolean => contender.startsWith(KNITTING);
const isRate = ({ case: name }: Row): boolean => name.includes(POISSON);

const everydayContenders = (name: EverydayCase): readonly Contender[] =>
  ["heddle", BARE_WORKER, "Piscina", ...(name === WORKER_MEMORY ? [] : [NO_WORKER])]
    .map((contender) => withVariant(byName(contender), name));

export const WAITING: Scenarios = {
  "lateness": {
    about: "from the end of a task of 50 µs to 100 ms to the code that awaits it",
    rounds: [1, 3],
    contenders: namedAndKnitting("heddle", RAW_WORKER),
    derived: [toBaseline(RAW_WORKER), tailToBaseline(RAW_WORKER)],
    table: {
      keys: ["case", "contender", "task"],
      size: ({ size }) => formatUs(size),
      columns: [
        ...figures("µs", "p50", "p99", "mean", "min"),
        ratios(`p50 × ${RAW_WORKER}`, "ratioToBaseline"),
        ratios(`p99 × ${RAW_WORKER}`, "p99RatioToBaseline"),
        SAMPLES,
      ],
      note:
        "Lateness: from the end of the task in the worker to the caller's continuation on the host. With\n" +
        "fewer than 100 samples a round, p99 is the median of each round's worst.",
    },
  },
  "cold": {
    when: "quick",
    about:
      "a fresh process each: import, first three answers, first 2,000 calls and the next 10,000",
    rounds: [3, 15],
    isPooled: true,
    pairedWith: () => BARE_WORKER,
    timeoutMs: () => COLD_TIMEOUT_MS,
    contenders: (choices, runtime) => {
      const others = choices.isQuick ? [] : [byName(ADAPTER), ...webWorker(runtime)];
      const all = [...oneWorker(choices, runtime), ...others];
      const kinds = choices.isQuick ? QUICK_KINDS : COLD_KINDS;
      // Of those that are left out, one stands for all kinds.
      return kinds.flatMap((kind, index) =>
        all.flatMap((each) =>
          each.left === undefined ? [withVariant(each, kind)] : index === 0 ? [each] : []
        )
      );
    },
    derived: [overBaseline(BARE_WORKER), perCall],
    table: {
      keys: ["", "contender"],
      columns: [
        ...withUnits("p50", "mean", "p99", "min"),
        ["p50 per call", ({ perCall }) => perCall === undefined ? "–" : `${perCall} µs`],
        optional("processes", "samples"),
        pairedTo(BARE_WORKER),
        optional(`mean − ${BARE_WORKER}`, "overBaseline"),
      ],
      note:
        "Each once in a fresh process. First answer: from just before the worker is created. Many calls: 20 at once.",
    },
  },
  "everyday": {
    about:
      "a fresh process each: a task of 2 ms, memory of an idle worker, a command over 500 files",
    rounds: [2, 15],
    isPooled: true,
    pairedWith: () => BARE_WORKER,
    contenders: () => EVERYDAY_CASES.flatMap((name) => everydayContenders(name)),
    derived: [],
    on: ["node"],
    table: {
      keys: ["", "contender"],
      columns: [
        ...withUnits("p50", "mean", "p99", "min"),
        optional("processes", "samples"),
        pairedTo(BARE_WORKER),
      ],
      note:
        "Each once in a fresh process, with one worker, and with two for the command. Memory: what each of 16 adds.",
    },
  },
  "sporadic": {
    when: "quick",
    about: "one call every 0.5 to 40 ms, and 100 to 10,000 a second at random; processor time",
    rounds: [1, 2],
    isPooled: true,
    pairedWith: () => BARE_WORKER,
    contenders: (choices, runtime) => inTurn([...oneWorker(choices, runtime), byName(NO_CALLS)]),
    derived: [overBaseline(NO_CALLS)],
    table: {
      keys: ["case", "contender", "pace"],
      size: (row) => isRate(row) ? `${row.size} a second` : formatUs(row.size),
      columns: [
        ...figures("µs", "p50", "p99"),
        P999,
        pairedTo(BARE_WORKER),
        optional(`mean − ${NO_CALLS}`, "overBaseline"),
        SAMPLES,
      ],
      note: "Processor time: of all threads of the process, user and system, per call.",
    },
  },
  "contended": {
    about: "calls beside processes that compute, and with all threads on one core or half of one",
    rounds: [1, 2],
    isPooled: true,
    pairedWith: () => BARE_WORKER,
    contenders: contendedContenders,
    derived: [perCall],
    table: contendedTable,
  },
  "idle-cost": {
    about: "processor time of a pool that has nothing to do, and of a host that awaits",
    rounds: [1, 1],
    contenders: named("heddle", RAW_WORKER, "no workers"),
    derived: [overBaseline(RAW_WORKER)],
    table: {
      keys: ["case", "contender"],
      columns: [
        optional("mean % of a core", "mean"),
        ...figures("%", "p50", "p99", "min"),
        optional(`mean − ${RAW_WORKER}`, "overBaseline"),
        SAMPLES,
      ],
      note:
        "Processor time, user and system, over wall time. Idle: all threads of the process, a sample a second.\n" +
        "Awaiting: the host's thread alone, a sample every 4 tasks.",
    },
  },
  "thread-sweep": {
    about: "void calls, 1 to 1000 at once, with 1, 2, 4 and 8 workers",
    rounds: [1, 3],
    contenders: (choices) => [
      byName("heddle"),
      // A process for each size: what its closed pools leave running would slow the next down.
      ...SWEPT_WORKERS.map((count) => ({
        ...knitting(choices),
        name: `${KNITTING}, ${workersOf(count)}`,
        args: withKnitting(["--threads", String(count)]),
      })),
    ],
    derived: [
      toReference((candidate, of) =>
        isWithOneWorker(candidate, of) && isOfKnitting(candidate) === isOfKnitting(of)
      ),
    ],
    table: {
      keys: ["case", "contender", "workers"],
      columns: [
        ...figures("µs", "p50", "mean", "p99"),
        ratios("p50 × 1 worker", "ratioToReference"),
        ratios("mean × 1 worker", "meanRatioToReference"),
        SAMPLES,
      ],
      note: "Time of a batch; at batch 1 that of a call, 20 one after the other to a sample.",
    },
  },
  "burst": {
    about: "1,000 to 100,000 f64 echoes at once, and a timer of the host meanwhile",
    rounds: [1, 2],
    contenders: namedAndKnitting("heddle", "postMessage"),
    derived: [perCall],
    table: {
      keys: BY_CALLS,
      columns: [...figures("µs", "p50", "mean", "p99", "min"), PER_CALL, SAMPLES],
      note:
        "Timer: how late it is, from when the calls have been made until all are answered; with 1, while calls are awaited one after the other.",
    },
  },
  "mixed-load": {
    about: "micro-tasks alone and beside a task of 100 ms",
    rounds: [1, 3],
    contenders: named(ALONE, BESIDE_LONG),
    derived: [
      toBaseline(ALONE),
      toReference((candidate, of) => candidate.case === LONG_TASK && of.case === LAST_MICRO),
    ],
    table: {
      keys: BY_CALLS,
      columns: [
        optional("unit", "unit"),
        optional("p50", "p50"),
        optional("p99", "p99"),
        ratios("p50 × alone", "ratioToBaseline"),
        ratios("p50 × long task", "ratioToReference"),
        SAMPLES,
      ],
      note: "× long task: less than 1 if the micro-tasks did not wait for it.",
    },
  },
  "fan-out": {
    about: "8 tasks of 5 ms, 64 of 10 µs, 1,000 of 50 µs over 1 and 2 workers",
    rounds: [1, 2],
    contenders: named("heddle"),
    derived: [toIdeal, toReference(isWithOneWorker)],
    table: {
      keys: ["case", "contender"],
      columns: [
        ...figures("ms", "p50", "p99", "min"),
        optional("ideal ms", "ideal"),
        ratios("p50 × ideal", "ratioToIdeal"),
        ratios("p50 × 1 worker", "ratioToReference"),
        SAMPLES,
      ],
      note: "Ideal: the tasks' own time, divided among the workers.",
    },
  },
};
