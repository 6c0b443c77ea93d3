/**
 * Sentences of the docs and the captions that say what was measured, and the results that they cite.
 * `claims.test.ts` finds each in its file and compares it with `results/`, so that a new run cannot leave them behind.
 */
import type { PairedRatio } from "../harness/schema.ts";
import * as cold from "../scenarios/cold-cases.ts";
import { ADAPTER, HOT_SIZES, NUMBER, OBJECT, WITH_TWO } from "../scenarios/hot-cases.ts";
import * as shared from "../scenarios/shared-cases.ts";
import * as contended from "../scenarios/contended-cases.ts";
import { EVERY, GAPS_US, POISSON, RATES } from "../scenarios/sporadic-cases.ts";
import { cpuOfCalls, found, p50, startOf } from "./ratios.ts";
import { measurementOf, resultOf, RUNTIMES, title } from "./page.ts";

export interface Claim {
  /** The file that has it, or `caption` for a sentence under charts. */
  readonly file: string;
  /** As it is there, white space aside. A figure is made of the results. */
  readonly text: string;
  /** Whether the results support it. */
  readonly holds: boolean;
}

const BARE_WORKER = "bare worker";

/** Ratios to the bare worker of what was measured in turn, on every runtime. */
const ratiosOf = (
  scenario: string,
  contender: string,
  places: readonly (readonly [name: string, size: number])[],
): PairedRatio[] =>
  RUNTIMES.flatMap((runtime) =>
    places.map(([name, size]) => {
      const { paired } = found(runtime, scenario, contender, name, size);
      if (paired === undefined) throw new Error(`${runtime} ${scenario} ${name} has no pairs`);
      return paired;
    })
  );

const spreadOf = (ratios: readonly PairedRatio[]): string =>
  spread(ratios.map(({ ratio }) => ratio));

/** From the smallest to the largest, with as many digits as a reader wants. */
function spread(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const digits = most < 0.2 ? 2 : most < 10 ? 1 : 0;
  const [from, to] = [least, most].map((value) => value.toFixed(digits));
  return from === to ? from! : `${from} to ${to}`;
}

const claim = (file: string, text: string, holds = true): Claim => ({ file, text, holds });

const COMPARISON = "docs/comparison.md";
const MIGRATING = "docs/migrating.md";
const LOSSES = "docs/benchmarks/cold-and-sporadic.md";
const CAPTION = "caption";

function sharedClaims(): Claim[] {
  /** Microseconds on every runtime. */
  const us = (name: string, size: number, ...contenders: readonly string[]): string =>
    spread(
      RUNTIMES.flatMap((runtime) =>
        contenders.map((contender) => p50(runtime, "shared", contender, name, size) / 1000)
      ),
    );
  const { CHANNEL, GET, HEDDLE, MUTEX, CALL, NUMBER_BYTES, OBJECT_BYTES } = shared;
  const [get, call] = [HEDDLE, CALL].map((each) => us(GET, NUMBER_BYTES, each));
  const [getObject, callObject] = [HEDDLE, CALL].map((each) => us(GET, OBJECT_BYTES, each));
  const channel = us(CHANNEL, NUMBER_BYTES, HEDDLE);
  const [alone, both] = shared.LOCKING_THREADS.map((threads) => us(MUTEX, threads, HEDDLE));
  const native = ["Go", "Rust std", "crossbeam-channel", "tokio mpsc"];
  const natives = us(CHANNEL, NUMBER_BYTES, ...native);
  return [
    `On two cores \`get\` of a number takes ${get} µs where a call, in turn with it, takes ${call} µs, and an object of 200 B ${getObject} µs where a call takes ${callObject} µs.`,
    `A channel takes ${channel} µs for a number from worker to worker, a mutex ${alone} µs without and ${both} µs with another worker that wants it.`,
    `Go and Rust, whose threads share their heap, take ${natives} µs for a channel`,
  ].map((text) => claim("docs/shared.md", text));
}

const ADAPTERS = [ADAPTER, `${ADAPTER}, ${WITH_TWO}`] as const;

/** Ratios of neighbours in time, of the small values of `hot` or `adapter`. */
const pairedOf = (scenario: "hot" | "adapter", contenders: readonly string[], size: number) =>
  contenders.flatMap((contender) =>
    ratiosOf(scenario, contender, [[NUMBER, size], [OBJECT, size]])
  );

function hotClaims(): Claim[] {
  const [heddle, bare, piscina] = ["heddle", BARE_WORKER, "Piscina"].map((contender) =>
    spread(RUNTIMES.map((runtime) => p50(runtime, "hot", contender, OBJECT, 1)))
  );
  const [one, hundred] = HOT_SIZES.map((size) =>
    spread(pairedOf("adapter", ADAPTERS, size).map(({ ratio }) => 1 / ratio))
  );
  const areBelow = (scenario: "hot" | "adapter", contenders: readonly string[]): boolean =>
    HOT_SIZES.flatMap((size) => pairedOf(scenario, contenders, size)).every(({ high }) => high < 1);
  return [
    claim(
      COMPARISON,
      `An object of 200 B there and back takes ${heddle} µs, by a bare worker ${bare} µs, by Piscina ${piscina} µs.`,
    ),
    claim(
      MIGRATING,
      `small tasks are done ${one} times sooner than by Piscina one at a time, and ${hundred} times with a hundred at once`,
    ),
    claim(
      CAPTION,
      "Left of the dashed line calls take less time than by a bare worker.",
      areBelow("hot", ["heddle"]),
    ),
    claim(
      CAPTION,
      "left of the dashed line tasks take less time than by Piscina",
      areBelow("adapter", ADAPTERS),
    ),
  ];
}

type ColdKind = cold.ColdKind;
const KINDS = ["number", "object, 200 B"] as const satisfies readonly ColdKind[];

/** Quotients of the same figure of two contenders, on every runtime and for every kind. */
const quotients = (
  of: (runtime: string, contender: string, kind: ColdKind) => number,
  [ours, theirs]: readonly [string, string],
): string =>
  spread(
    RUNTIMES.flatMap((runtime) =>
      KINDS.map((kind) => of(runtime, ours, kind) / of(runtime, theirs, kind))
    ),
  );

const timeOf = (step: string) => (runtime: string, contender: string, kind: ColdKind): number =>
  p50(runtime, "cold", contender, cold.caseOf(step, kind), 1);

/** The largest ratio of a step of `cold` on each runtime, in words. */
const mostByRuntime = (step: string): string => {
  const most = RUNTIMES.map((runtime) => {
    const ratios = cold.COLD_KINDS.map((kind) =>
      found(runtime, "cold", "heddle", cold.caseOf(step, kind), 1).paired!.ratio
    );
    return `${Math.max(...ratios).toFixed(1)} on ${title(runtime)}`;
  });
  return `${most.slice(0, -1).join(", ")} and ${most.at(-1)}`;
};

function coldClaims(): Claim[] {
  const { FIRST_ANSWER, FIRST_CALLS, MEMORY, NEXT_CALLS, SECOND_CALL } = cold;
  const ratiosOfStep = (step: string) =>
    ratiosOf("cold", "heddle", KINDS.map((kind) => [cold.caseOf(step, kind), 1] as const));
  const firsts = ratiosOfStep(FIRST_ANSWER);
  const isLater = (contender: string): boolean =>
    RUNTIMES.every((runtime) =>
      KINDS.every((kind) => {
        const place = cold.caseOf(FIRST_ANSWER, kind);
        const theirs = measurementOf(resultOf(runtime, "cold"), contender, place, 1);
        return theirs === undefined || timeOf(FIRST_ANSWER)(runtime, "heddle", kind) > theirs.p50;
      })
    );
  const starts = quotients(startOf, ["heddle", BARE_WORKER]);
  const webWorkers = ["deno", "bun"].map((runtime) => {
    const first = (contender: string) => timeOf(FIRST_ANSWER)(runtime, contender, "number");
    return (first("heddle") / first(cold.WEB_WORKER)).toFixed(0);
  }).join(" and ");
  const [first, second, many] = [FIRST_ANSWER, SECOND_CALL, FIRST_CALLS].map((step) =>
    quotients(timeOf(step), [ADAPTER, "Piscina"])
  );
  const mib = (runtime: string, contender: string) => p50(runtime, "cold", contender, MEMORY, 1);
  const more = RUNTIMES.map((runtime) => mib(runtime, "heddle") - mib(runtime, BARE_WORKER));
  const memory = spreadOf(ratiosOf("cold", "heddle", [[MEMORY, 1]]));
  return [
    claim(
      LOSSES,
      `**The start** of a program, until its first answer and with the import, takes ${starts} times as long as with a bare worker; ` +
        `after the import the first answer takes ${spreadOf(firsts)} times as long, ` +
        "and longer than from Piscina or Tinypool, on every runtime",
      isLater("Piscina") && isLater("Tinypool"),
    ),
    claim(
      LOSSES,
      `Compared with the global \`Worker\` of Deno and Bun it takes ${webWorkers} times as long.`,
    ),
    claim(
      LOSSES,
      `**The second call** takes ${spreadOf(ratiosOfStep(SECOND_CALL))} times as long`,
    ),
    claim(
      LOSSES,
      `**The first 2,000 calls** take up to ${mostByRuntime(FIRST_CALLS)} times as long`,
    ),
    claim(
      LOSSES,
      `**The next 10,000 calls** take up to ${mostByRuntime(NEXT_CALLS)} times as long`,
    ),
    claim(LOSSES, `a process takes ${memory} times the memory`),
    claim(
      MIGRATING,
      `the first answer takes ${first} times as long as from Piscina, the second call ${second} times and the first 2,000 calls ${many} times`,
    ),
    claim(
      COMPARISON,
      `the first result takes ${starts} times as long as with a bare worker, the import included`,
    ),
    claim(COMPARISON, `${spread(more)} MiB more for each process`),
    claim(
      CAPTION,
      "at the start of a program a bare worker is faster",
      firsts.every(({ low }) => low > 1),
    ),
  ];
}

const PACES = [
  ...GAPS_US.map((size) => [EVERY, size] as const),
  ...RATES.map((size) => [POISSON, size] as const),
];

function sporadicClaims(): Claim[] {
  const { AT_ONCE, BUSY, EVERY: EVERY_3_MS, ONE_CORE } = contended;
  const [heddle, piscina] = ["heddle", "Piscina"].map((contender) =>
    spreadOf(ratiosOf("sporadic", contender, PACES))
  );
  const [cpu, piscinaCpu] = ["heddle", "Piscina"].map((contender) =>
    spread(
      RUNTIMES.flatMap((runtime) =>
        PACES.map((pace: readonly [string, number]) =>
          cpuOfCalls(runtime, contender, ...pace) / cpuOfCalls(runtime, BARE_WORKER, ...pace)
        )
      ),
    )
  );
  /** 99th percentiles over those of a bare worker. */
  const tailsOf = (scenario: string, places: readonly (readonly [string, number])[]): number[] =>
    RUNTIMES.flatMap((runtime) =>
      places.map((place) =>
        found(runtime, scenario, "heddle", ...place).p99 /
        found(runtime, scenario, BARE_WORKER, ...place).p99
      )
    );
  const tails = tailsOf("sporadic", PACES);
  const busyTails = tailsOf(
    "contended",
    [AT_ONCE, EVERY_3_MS].map((name) => [contended.caseOf(BUSY, name), 1] as const),
  );
  const twenty = ratiosOf(
    "contended",
    "heddle",
    [BUSY, ONE_CORE].map((placement) => [contended.caseOf(placement, AT_ONCE), 20] as const),
  );
  const hot = HOT_SIZES.flatMap((size) => pairedOf("hot", ["heddle"], size));
  return [
    claim(
      COMPARISON,
      `with pauses between calls each takes ${heddle} times as long as by a bare worker, and by Piscina ${piscina} times`,
    ),
    claim(
      COMPARISON,
      `a call with pauses takes ${cpu} times the processor time of a bare worker's, by Piscina ${piscinaCpu} times`,
    ),
    claim(
      LOSSES,
      `**Processor time** of calls with pauses is ${cpu} times that of a bare worker, by Piscina ${piscinaCpu} times`,
    ),
    claim(
      LOSSES,
      "**The tail of calls with pauses** is mostly longer: their 99th percentile is up to " +
        `${Math.round(Math.max(...tails))} times that of a bare worker.`,
      tails.filter((tail) => tail > 1).length > tails.length / 2,
    ),
    claim(
      LOSSES,
      "**Beside a busy process** the 99th percentile of calls one at a time and with pauses is " +
        `${spread(busyTails)} times that of a bare worker`,
      busyTails.some((tail) => tail > 1),
    ),
    claim(
      LOSSES,
      "In the median heddle wins in a hot loop, and with 20 calls at once also beside a busy process and on one core.",
      [...twenty, ...hot].every(({ ratio }) => ratio < 1),
    ),
    claim(
      LOSSES,
      `**A call with pauses** takes ${heddle} times as long as by a bare worker; by Piscina ${piscina} times.`,
    ),
    claim(
      CAPTION,
      "with a pause of 10 ms before each call it takes about as long as a bare worker",
      ratiosOf("sporadic", "heddle", [[EVERY, 10_000]])
        .every(({ ratio }) => ratio > 0.8 && ratio < 1.25),
    ),
  ];
}

/** All claims, against the results as they are. */
export const claims = (): Claim[] => [
  ...sharedClaims(),
  ...hotClaims(),
  ...coldClaims(),
  ...sporadicClaims(),
];
