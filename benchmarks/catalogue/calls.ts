/** Scenarios about calls and what they carry. */
import { KNITTING } from "../contenders/names.ts";
import {
  perCall,
  speedUp,
  throughput,
  toBaseline,
  toFloor,
  toReference,
} from "../harness/derived.ts";
import {
  figures,
  optional,
  pairedTo,
  PER_CALL,
  ratios,
  type TableSpec,
} from "../harness/row-table.ts";
import { heavyLoadTable, latencyTable } from "../harness/special-tables.ts";
import { formatBytes } from "../harness/units.ts";
import {
  BARE_WORKER,
  byName,
  inTurn,
  knitting,
  named,
  namedAndKnitting,
  oneWorker,
} from "../runner/one-worker.ts";
import { type Contender, type Scenarios, SCRIPTS } from "../runner/scenario.ts";
import { WEB_WORKER } from "../scenarios/cold-cases.ts";
import { BARE_FORK, JEST_WORKER, TINYPOOL, WORKERPOOL } from "../scenarios/processes-cases.ts";
import { ADAPTER, WITH_TWO } from "../scenarios/hot-cases.ts";
import { workersOf } from "../scenarios/pools-in-turn.ts";

/** Worker pools and proxies of others. */
const PEERS = ["Piscina", "Tinypool", "workerpool", "Poolifier", "comlink", "synckit"];
const FLOOR = "raw ring floor";

/** The same split by worker_threads alone. */
const byHand = (name: string): string => `${name}, by hand`;

/** A worker by hand of the class that browsers have: Node does not. */
export const webWorker = (runtime: string): readonly Contender[] =>
  runtime === "node" ? [] : [byName(WEB_WORKER)];

export const withKnitting = (args: readonly string[]): readonly string[] => [
  ...args,
  "--contender",
  KNITTING,
];

const PERCENTILES = figures("µs", "p50", "p75", "p99", "mean", "min");
const timesBaseline = (baseline: string) => ratios(`× ${baseline}`, "ratioToBaseline");
const ofSize = ({ size }: { readonly size: number }): string => formatBytes(size);
const timesNote = (baseline: string): string =>
  `× ${baseline}: p50 against that of ${baseline} at the same row; less than 1 is faster.`;

const hotTable = (to: string): TableSpec => ({
  keys: ["case", "contender", "calls at once"],
  columns: [
    ...figures("µs", "p50", "p99"),
    PER_CALL,
    pairedTo(to),
    ["pairs", ({ paired }) => String(paired?.pairs ?? "–")],
  ],
  note:
    "Contenders take turns in one process, in blocks of 50 ms of which the second half counts; one at a time: 20 calls one after the other to a sample. In brackets: the 95 % interval of the ratio.",
});

export const CALLS: Scenarios = {
  "heavy-load": {
    when: "quick",
    about: "all primes up to 10,000,000 by the main thread and 0, 1, … workers",
    rounds: [1, 3],
    contenders: (choices) =>
      Array.from({ length: choices.threads + 1 }, (_, workers): readonly Contender[] => {
        const args = ["--threads", String(workers)];
        if (workers === 0) return [{ name: "main alone", args }];
        const name = `main + ${workers}`;
        return [
          { name, args },
          { name: byHand(name), args: [...args, "--contender", "by hand"] },
          { ...knitting(choices), name: `${name}, ${KNITTING}`, args: withKnitting(args) },
        ];
      }).flat(),
    derived: [
      speedUp,
      toReference((candidate, of) => candidate.contender === byHand(of.contender)),
    ],
    table: heavyLoadTable,
  },
  "ipc": {
    about: "a small object there and back, 1 to 100 at once, against messages, sockets and pools",
    rounds: [1, 2],
    contenders: namedAndKnitting("heddle", "postMessage", "websocket", "HTTP", ...PEERS),
    derived: [toBaseline("heddle")],
    table: {
      keys: ["payload", "contender", "at once"],
      columns: [...PERCENTILES, PER_CALL, timesBaseline("heddle")],
      note: "× heddle: p50 against heddle's at the same row; more than 1 is slower.",
    },
  },
  "hot": {
    when: "quick",
    about:
      "a number, an object of 200 B, a string of 10 KB without pauses, 1 and 100 at once, against pools",
    rounds: [1, 2],
    isPooled: true,
    pairedWith: () => BARE_WORKER,
    contenders: (choices, runtime) =>
      inTurn([...oneWorker(choices, runtime), ...webWorker(runtime)]),
    derived: [perCall],
    table: hotTable(BARE_WORKER),
  },
  "adapter": {
    about: "the same calls by @heddle/piscina and by Piscina with their defaults, 1 and 2 workers",
    rounds: [1, 2],
    isPooled: true,
    pairedWith: (contender) => contender.replace(ADAPTER, "Piscina"),
    contenders: () =>
      inTurn([
        ...["heddle", ADAPTER, `${ADAPTER}, ${WITH_TWO}`].map(byName),
        ...["Piscina", `Piscina, ${WITH_TWO}`].map((name) => ({ ...byName(name), isPeer: true })),
      ]),
    derived: [perCall],
    table: hotTable("Piscina"),
  },
  "processes": {
    about: "the same calls and a string of 1 MiB by workers that are processes",
    rounds: [1, 2],
    isPooled: true,
    pairedWith: () => BARE_FORK,
    contenders: (_, runtime) =>
      inTurn([
        byName("heddle"),
        byName(BARE_FORK),
        ...[JEST_WORKER, TINYPOOL].map((name) => ({ ...byName(name), isPeer: true })),
        {
          ...byName(WORKERPOOL),
          isPeer: true,
          ...(runtime === "bun" ? { left: "its processes do not answer on Bun (10.0)" } : {}),
        },
      ]),
    derived: [perCall],
    table: hotTable(BARE_FORK),
  },
  "latency": {
    about: "an f64 and void calls, 1 to 1000 at once, with 1, 2 and 4 workers",
    rounds: [1, 6],
    pairedWith: () => "postMessage",
    contenders: (choices) => [
      ...namedAndKnitting("heddle", "@heddle/knitting", FLOOR, "postMessage", "Piscina")(choices),
      ...[2, 4].map((count) => ({
        name: `heddle, ${workersOf(count)}`,
        args: ["--contender", "heddle", "--threads", String(count)],
      })),
    ],
    derived: [toFloor(FLOOR)],
    on: [...SCRIPTS, "tokio"],
    table: latencyTable,
  },
  "tokio": {
    about: "an f64, strings and bytes of 8 B to 1 MiB, 1 to 100 at once, beside Tokio's copies",
    rounds: [1, 2],
    contenders: named("heddle", "heddle, transfer()", "copies alone"),
    derived: [perCall],
    on: [...SCRIPTS, "tokio"],
    table: {
      keys: ["payload", "contender", "size"],
      size: ofSize,
      columns: [...PERCENTILES, PER_CALL],
    },
  },
  "types": {
    about: "every kind of payload there and back, 1 and 100 at once",
    rounds: [1, 2],
    contenders: namedAndKnitting("heddle", "@heddle/knitting", "heddle (JSON text)", "postMessage"),
    derived: [toBaseline("postMessage"), perCall],
    table: {
      keys: ["payload", "contender", "batch"],
      columns: [...PERCENTILES, PER_CALL, timesBaseline("postMessage")],
      note: timesNote("postMessage"),
    },
  },
  "payload-growth": {
    about: "a string and bytes of 32 B to 16 MiB, 1 and 64 at once",
    rounds: [1, 2],
    contenders: namedAndKnitting("heddle", "postMessage"),
    derived: [toBaseline("postMessage"), perCall, throughput],
    table: {
      keys: ["payload", "contender", "size"],
      size: ofSize,
      columns: [
        ...PERCENTILES,
        PER_CALL,
        optional("GB/s one way", "gigabytesPerSecond"),
        timesBaseline("postMessage"),
      ],
      note: `${timesNote("postMessage")}\n` +
        "GB/s one way: 10^9 bytes of payload that go one way, over half the time there and back.",
    },
  },
  "codec": {
    about: "a value written and read in one thread, against JSON, node:v8 and msgpackr",
    rounds: [1, 2],
    isPooled: true,
    pairedWith: () => "structuredClone",
    contenders: () =>
      inTurn(named("heddle codec", "JSON", "node:v8", "msgpackr", "structuredClone")()),
    derived: [],
    table: {
      keys: ["payload", "contender"],
      columns: [...PERCENTILES, pairedTo("structuredClone")],
    },
  },
};
