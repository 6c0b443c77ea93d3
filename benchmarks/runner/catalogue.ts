/** All scenarios, in the order in which they run. */
import { hasBrowser } from "../../tests/support/browser.ts";
import { KNITTING } from "../contenders/knitting.ts";
import type { Measurement } from "../harness/schema.ts";
import {
  addOverBaseline,
  addP99RatioToBaseline,
  addPerCall,
  addRatioToBaseline,
  addRatioToFloor,
  addRatioToIdeal,
  addRatioToReference,
  addSpeedUp,
  addThroughput,
  isWithOneWorker,
} from "../harness/derived.ts";
import {
  BARE as BARE_IN_BROWSER,
  CONTENDERS as BROWSER_CONTENDERS,
} from "../scenarios/browser-cases.ts";
import { COLD_KINDS, QUICK_KINDS, WEB_WORKER } from "../scenarios/cold-cases.ts";
import { PLAIN } from "../scenarios/concurrency-cases.ts";
import { ON_MAIN } from "../scenarios/http-cases.ts";
import { fetchNatsServer, findNatsServer } from "../../scripts/nats-server.ts";
import { ADAPTER, WITH_TWO } from "../scenarios/hot-cases.ts";
import { ALONE, BESIDE_LONG, LAST_MICRO, LONG_TASK } from "../scenarios/mixed-cases.ts";
import { CONTENDERS as NATS_CONTENDERS, RAW } from "../scenarios/nats-cases.ts";
import { SWEPT_WORKERS, workersOf } from "../scenarios/pools-in-turn.ts";
import { languageVersions } from "../programs/languages.ts";
import { programContenders } from "./programs.ts";
import { BY_CALLS, BY_MAP, MEMORY_CONTENDER } from "../scenarios/streams-cases.ts";
import { NO_CALLS } from "../scenarios/sporadic-cases.ts";
import { httpContenders, httpSoakContenders } from "./http.ts";
import { concurrencyContenders, concurrencyVersions } from "./concurrency.ts";
import { contendedContenders } from "./contended.ts";
import { BARE_WORKER, byName, inTurn, knitting, oneWorker } from "./one-worker.ts";
import { finishShared, sharedContenders, sharedVersions } from "./shared.ts";
import type { Choices, Contender, Scenario } from "./scenario.ts";

const quickOr = (quick: number, full: number) => ({ isQuick }: Choices): number =>
  isQuick ? quick : full;

/** Scenarios whose process measures one contender, named on its command line. */
const named = (...names: readonly string[]) => (): readonly Contender[] => names.map(byName);

const withKnitting = (args: readonly string[]): readonly string[] => [
  ...args,
  "--contender",
  KNITTING,
];

/** The same with a checkout of Knitting, second so that it is next to ours. */
const namedAndKnitting =
  (first: string, ...others: readonly string[]) => (choices: Choices): readonly Contender[] => [
    byName(first),
    knitting(choices),
    ...others.map(byName),
  ];

/** Left out where there is no server and none can be fetched. */
const natsContenders = (_: Choices, runtime: string): readonly Contender[] => {
  // A list of scenarios fetches nothing.
  const found = runtime === "" ? findNatsServer() : fetchNatsServer();
  return NATS_CONTENDERS.map((name) => ({
    ...byName(name),
    ...("path" in found ? {} : { left: found.reason }),
  }));
};

const isOfKnitting = ({ contender }: Measurement): boolean => contender.startsWith(KNITTING);

/** The same split by worker_threads alone. */
const byHand = (name: string): string => `${name}, by hand`;

/** Worker pools and proxies of others. */
const PEERS = ["Piscina", "Tinypool", "workerpool", "Poolifier", "comlink", "synckit"];

/** A worker by hand of the class that browsers have: Node does not. */
const webWorker = (runtime: string): readonly Contender[] =>
  runtime === "node" ? [] : [byName(WEB_WORKER)];

/** Each of them with `--variant`; of those that are left out, one stands for all. */
const withVariant = (
  contenders: readonly Contender[],
  variant: string,
  isFirst: boolean,
): readonly Contender[] =>
  contenders.flatMap((each) => {
    if (each.left !== undefined) return isFirst ? [each] : [];
    const args = [...each.args, "--variant", variant];
    return [{ ...each, name: `${each.name}, ${variant}`, variantOf: each.name, args }];
  });

/** Most processes take half a second. */
const COLD_TIMEOUT_MS = 20_000;

/** Python takes minutes for all programs. */
const PROGRAMS_TIMEOUT_MS = 1_800_000;
/** All contenders in turn, of which one may take a minute. */
const CONCURRENCY_TIMEOUT_MS = 400_000;
const CONCURRENCY_TIMEOUT_DELAYS = 100;

const FLOOR = "raw ring floor";
const RAW_WORKER = "raw worker";
const READABLE = "Readable over a port";

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "heavy-load": {
    isInQuick: true,
    about: "all primes up to 10,000,000 by the main thread and 0, 1, … workers",
    rounds: quickOr(1, 3),
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
    finish: (measurements) =>
      addRatioToReference(
        addSpeedUp(measurements),
        (candidate, of) => candidate.contender === byHand(of.contender),
      ),
  },
  "ipc": {
    about: "a small object there and back, 1 to 100 at once, against messages, sockets and pools",
    rounds: quickOr(1, 2),
    contenders: namedAndKnitting("heddle", "postMessage", "websocket", "HTTP", ...PEERS),
    finish: (measurements) => addRatioToBaseline(measurements, "heddle"),
  },
  "hot": {
    isInQuick: true,
    about:
      "a number, an object of 200 B, a string of 10 KB without pauses, 1 and 100 at once, against pools",
    rounds: quickOr(1, 2),
    isPooled: true,
    pairedWith: () => BARE_WORKER,
    contenders: (choices, runtime) =>
      inTurn([...oneWorker(choices, runtime), ...webWorker(runtime)]),
    finish: addPerCall,
  },
  "adapter": {
    about: "the same calls by heddle/piscina and by Piscina with their defaults, 1 and 2 workers",
    rounds: quickOr(1, 2),
    isPooled: true,
    pairedWith: (contender) => contender.replace(ADAPTER, "Piscina"),
    contenders: () =>
      inTurn(
        [
          ...named("heddle", ADAPTER, `${ADAPTER}, ${WITH_TWO}`)(),
          ...[
            "Piscina",
            `Piscina, ${WITH_TWO}`,
          ].map((name) => ({ ...byName(name), isPeer: true })),
        ],
      ),
    finish: addPerCall,
  },
  "latency": {
    about: "an f64 and void calls, 1 to 1000 at once, with 1, 2 and 4 workers",
    rounds: quickOr(1, 6),
    pairedWith: () => "postMessage",
    contenders: (choices) => [
      ...namedAndKnitting("heddle", "heddle/knitting", FLOOR, "postMessage", "Piscina")(choices),
      ...[2, 4].map((count) => ({
        name: `heddle, ${workersOf(count)}`,
        args: ["--contender", "heddle", "--threads", String(count)],
      })),
    ],
    finish: (measurements) => addRatioToFloor(measurements, FLOOR),
    withTokio: true,
  },
  "tokio": {
    about: "an f64, strings and bytes of 8 B to 1 MiB, 1 to 100 at once, beside Tokio's copies",
    rounds: quickOr(1, 2),
    contenders: named("heddle", "heddle, transfer()", "copies alone"),
    finish: addPerCall,
    withTokio: true,
  },
  "types": {
    about: "every kind of payload there and back, 1 and 100 at once",
    rounds: quickOr(1, 2),
    contenders: namedAndKnitting("heddle", "heddle/knitting", "heddle (JSON text)", "postMessage"),
    finish: (measurements) => addPerCall(addRatioToBaseline(measurements, "postMessage")),
  },
  "payload-growth": {
    about: "a string and bytes of 32 B to 16 MiB, 1 and 64 at once",
    rounds: quickOr(1, 2),
    contenders: namedAndKnitting("heddle", "postMessage"),
    finish: (measurements) =>
      addThroughput(addPerCall(addRatioToBaseline(measurements, "postMessage"))),
  },
  "codec": {
    about: "a value written and read in one thread, against JSON, node:v8 and msgpackr",
    rounds: quickOr(1, 2),
    isPooled: true,
    pairedWith: () => "structuredClone",
    contenders: () =>
      inTurn(named("heddle codec", "JSON", "node:v8", "msgpackr", "structuredClone")()),
    finish: (measurements) => measurements,
  },
  "lateness": {
    about: "from the end of a task of 50 µs to 100 ms to the code that awaits it",
    rounds: quickOr(1, 3),
    contenders: namedAndKnitting("heddle", RAW_WORKER),
    finish: (measurements) =>
      addP99RatioToBaseline(addRatioToBaseline(measurements, RAW_WORKER), RAW_WORKER),
  },
  "cold": {
    isInQuick: true,
    about:
      "a fresh process each: import, first three answers, first 2,000 calls and the next 10,000",
    rounds: quickOr(3, 15),
    isPooled: true,
    pairedWith: () => BARE_WORKER,
    timeoutMs: () => COLD_TIMEOUT_MS,
    contenders: (choices, runtime) =>
      (choices.isQuick ? QUICK_KINDS : COLD_KINDS).flatMap((kind, index) =>
        withVariant(
          [
            ...oneWorker(choices, runtime),
            ...(choices.isQuick ? [] : [byName(ADAPTER), ...webWorker(runtime)]),
          ],
          kind,
          index === 0,
        )
      ),
    finish: (measurements) => addPerCall(addOverBaseline(measurements, BARE_WORKER)),
  },
  "sporadic": {
    isInQuick: true,
    about: "one call every 0.5 to 40 ms, and 100 to 10,000 a second at random; processor time",
    rounds: quickOr(1, 2),
    isPooled: true,
    pairedWith: () => BARE_WORKER,
    contenders: (choices, runtime) => inTurn([...oneWorker(choices, runtime), byName(NO_CALLS)]),
    finish: (measurements) => addOverBaseline(measurements, NO_CALLS),
  },
  "contended": {
    about: "calls beside processes that compute, and with all threads on one core or half of one",
    rounds: quickOr(1, 2),
    isPooled: true,
    pairedWith: () => BARE_WORKER,
    contenders: contendedContenders,
    finish: addPerCall,
  },
  "idle-cost": {
    about: "processor time of a pool that has nothing to do, and of a host that awaits",
    rounds: () => 1,
    contenders: named("heddle", RAW_WORKER, "no workers"),
    finish: (measurements) => addOverBaseline(measurements, RAW_WORKER),
  },
  "thread-sweep": {
    about: "void calls, 1 to 1000 at once, with 1, 2, 4 and 8 workers",
    rounds: quickOr(1, 3),
    contenders: (choices) => [
      byName("heddle"),
      // A process for each size: what its closed pools leave running would slow the next down.
      ...SWEPT_WORKERS.map((count) => ({
        ...knitting(choices),
        name: `${KNITTING}, ${workersOf(count)}`,
        args: withKnitting(["--threads", String(count)]),
      })),
    ],
    finish: (measurements) =>
      addRatioToReference(
        measurements,
        (candidate, of) =>
          isWithOneWorker(candidate, of) && isOfKnitting(candidate) === isOfKnitting(of),
      ),
  },
  "burst": {
    about: "1,000 to 100,000 f64 echoes at once, and a timer of the host meanwhile",
    rounds: quickOr(1, 2),
    contenders: namedAndKnitting("heddle", "postMessage"),
    finish: addPerCall,
  },
  "mixed-load": {
    about: "micro-tasks alone and beside a task of 100 ms",
    rounds: quickOr(1, 3),
    contenders: named(ALONE, BESIDE_LONG),
    finish: (measurements) =>
      addRatioToReference(
        addRatioToBaseline(measurements, ALONE),
        (candidate, of) => candidate.case === LONG_TASK && of.case === LAST_MICRO,
      ),
  },
  "fan-out": {
    about: "8 tasks of 5 ms, 64 of 10 µs, 1,000 of 50 µs over 1 and 2 workers",
    rounds: quickOr(1, 2),
    contenders: named("heddle"),
    finish: (measurements) => addRatioToReference(addRatioToIdeal(measurements), isWithOneWorker),
  },
  "programs": {
    about: "seven small programs as whole processes, beside C, Rust, Go and Python; worker costs",
    rounds: quickOr(1, 2),
    isPooled: true,
    contenders: programContenders,
    finish: (measurements) => addRatioToBaseline(measurements, "C"),
    withNative: true,
    timeoutMs: () => PROGRAMS_TIMEOUT_MS,
    versions: (runtime) => runtime === "native" ? languageVersions() : {},
  },
  "streams": {
    about: "items through one stream each way; a task for a million numbers; memory",
    rounds: quickOr(1, 2),
    contenders: ({ isQuick }) => [
      ...named("heddle", "postMessage", BY_MAP, BY_CALLS)(),
      ...(isQuick ? [] : named(READABLE, MEMORY_CONTENDER)()),
    ],
    finish: (measurements) =>
      addRatioToReference(
        addRatioToBaseline(measurements, "postMessage"),
        (candidate, of) => candidate.contender === BY_CALLS && of.contender === BY_MAP,
      ),
  },
  "shared": {
    about: "maps, channels and mutexes of heddle/shared beside calls, the raw ring, Go and Rust",
    rounds: quickOr(1, 3),
    contenders: sharedContenders,
    finish: finishShared,
    versions: sharedVersions,
    // The first process builds the programs in Go and Rust.
    timeoutMs: () => 600_000,
  },
  "browser": {
    isInBrowser: true,
    about: "calls of a web worker from a page, by shared memory and by messages",
    rounds: quickOr(1, 3),
    contenders: () => [{
      name: "all in turn",
      variantOf: BROWSER_CONTENDERS.join(", "),
      args: [],
      ...(hasBrowser ? {} : { left: "there is no Chromium for this system" }),
    }],
    finish: (measurements) => addRatioToBaseline(measurements, BARE_IN_BROWSER),
    timeoutMs: () => 300_000,
  },
  "nats": {
    about:
      "calls to other processes over NATS beside bare requests; calls a second with 1, 2, 4 machines",
    rounds: quickOr(1, 3),
    contenders: natsContenders,
    finish: (measurements) => addRatioToBaseline(measurements, RAW),
    // Fetching the server for the first time may build it.
    timeoutMs: () => 600_000,
  },
  "concurrency": {
    about: "100 to 1,000 tasks of five slow requests each at once: wall time, memory, all cores",
    // Each process takes turns of its own.
    rounds: () => 1,
    contenders: concurrencyContenders,
    finish: (measurements) => addRatioToBaseline(measurements, PLAIN),
    withNative: true,
    versions: concurrencyVersions,
    timeoutMs: ({ delayMs }) => CONCURRENCY_TIMEOUT_MS + CONCURRENCY_TIMEOUT_DELAYS * delayMs,
  },
  "soak": {
    about: "mixed calls for 10 minutes (--soak-minutes): latency and memory minute by minute",
    rounds: () => 1,
    contenders: ({ soakMinutes }) => [
      { name: "heddle", args: ["--contender", "heddle", "--minutes", String(soakMinutes)] },
    ],
    finish: (measurements) => measurements,
    isExtra: true,
    timeoutMs: ({ soakMinutes }) => soakMinutes * 60_000 + 120_000,
  },
  "http": {
    about:
      "web servers: one thread, workers that each listen, websockets, light beside heavy requests",
    rounds: quickOr(1, 3),
    isPooled: true,
    contenders: httpContenders,
    finish: (measurements) =>
      addRatioToReference(
        measurements,
        (candidate, of) =>
          candidate.contender === ON_MAIN && candidate.case === of.case &&
          candidate.size === of.size,
      ),
    withNative: true,
    // The first process of each native server builds it.
    timeoutMs: () => 600_000,
  },
  "http-soak": {
    about: "a web server that computes in a pool (--soak-minutes): memory and latency by minute",
    rounds: () => 1,
    contenders: httpSoakContenders,
    finish: (measurements) => measurements,
    isExtra: true,
    timeoutMs: ({ soakMinutes }) => soakMinutes * 60_000 + 120_000,
  },
};
