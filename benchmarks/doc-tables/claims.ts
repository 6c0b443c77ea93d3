/**
 * Sentences of the README, the docs and the captions that say what was measured, and the results that they cite.
 * `claims.test.ts` finds each in its file and compares it with `results/`, so that a new run cannot leave them behind.
 */
import type { PairedRatio } from "../harness/schema.ts";
import {
  caseOf,
  COLD_KINDS,
  type ColdKind,
  FIRST_ANSWER,
  FIRST_CALLS,
  MEMORY,
  NEXT_CALLS,
  SECOND_CALL,
  WEB_WORKER,
} from "../scenarios/cold-cases.ts";
import { ADAPTER, HOT_SIZES, NUMBER, OBJECT, WITH_TWO } from "../scenarios/hot-cases.ts";
import {
  CHANNEL,
  GET,
  HEDDLE,
  LOCKING_THREADS,
  MUTEX,
  NUMBER_BYTES,
  OBJECT_BYTES,
} from "../scenarios/shared-cases.ts";
import {
  AT_ONCE,
  BUSY,
  caseOf as contendedCase,
  EVERY as EVERY_3_MS,
  ONE_CORE,
} from "../scenarios/contended-cases.ts";
import { EVERY, GAPS_US, POISSON, RATES } from "../scenarios/sporadic-cases.ts";
import { cpuOfCalls, found, p50, startOf } from "./ratios.ts";
import { measurementOf, resultOf, RUNTIMES, title } from "./shared.ts";

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

/** Microseconds of a figure of `shared` on every runtime. */
const sharedUs = (contenders: readonly string[], name: string, size: number): number[] =>
  RUNTIMES.flatMap((runtime) =>
    contenders.map((contender) => p50(runtime, "shared", contender, name, size) / 1000)
  );

const ADAPTERS = [ADAPTER, `${ADAPTER}, ${WITH_TWO}`] as const;
const NATIVE = ["Go", "Rust std", "crossbeam-channel", "tokio mpsc"] as const;

function sharedClaims(): Claim[] {
  const get = (contender: string, size: number) => spread(sharedUs([contender], GET, size));
  const channel = CHANNEL;
  return [
    `On two cores \`get\` of a number takes ${
      get(HEDDLE, NUMBER_BYTES)
    } µs where a hot call takes ${get("hot call", NUMBER_BYTES)} µs, and an object of 200 B ${
      get(HEDDLE, OBJECT_BYTES)
    } µs where a call takes ${get("hot call", OBJECT_BYTES)} µs.`,
    `A channel takes ${
      spread(sharedUs([HEDDLE], channel, NUMBER_BYTES))
    } µs for a number from worker to worker, a mutex ${
      spread(sharedUs([HEDDLE], MUTEX, LOCKING_THREADS[0]!))
    } µs without and ${
      spread(sharedUs([HEDDLE], MUTEX, LOCKING_THREADS[1]!))
    } µs with another worker that wants it.`,
    `Go and Rust, whose threads share their heap, take ${
      spread(sharedUs(NATIVE, channel, NUMBER_BYTES))
    } µs for a channel`,
  ].map((text) => ({ file: "docs/shared.md", text, holds: true }));
}

/** Ratios of neighbours in time, of the small values of `hot` or `adapter`. */
const pairedOf = (scenario: "hot" | "adapter", contenders: readonly string[], size: number) =>
  contenders.flatMap((contender) =>
    ratiosOf(scenario, contender, [[NUMBER, size], [OBJECT, size]])
  );

function hotClaims(): Claim[] {
  const object = (contender: string): string =>
    spread(RUNTIMES.map((runtime) => p50(runtime, "hot", contender, OBJECT, 1)));
  const sooner = (size: number): string =>
    spread(pairedOf("adapter", ADAPTERS, size).map(({ ratio }) => 1 / ratio));
  const all = HOT_SIZES.flatMap((size) => pairedOf("hot", ["heddle"], size));
  const adapters = HOT_SIZES.flatMap((size) => pairedOf("adapter", ADAPTERS, size));
  const isBelow = ({ high }: { readonly high: number }): boolean => high < 1;
  return [
    {
      file: "README.md",
      text: `An object of 200 B there and back takes ${object("heddle")} µs, by a bare worker ${
        object(BARE_WORKER)
      } µs, by Piscina ${object("Piscina")} µs.`,
      holds: true,
    },
    {
      file: "docs/migrating.md",
      text: `small tasks are done ${sooner(1)} times sooner than by Piscina one at a time, and ${
        sooner(100)
      } times with a hundred at once`,
      holds: true,
    },
    {
      file: "caption",
      text: "Left of the dashed line calls take less time than by a bare worker.",
      holds: all.every(isBelow),
    },
    {
      file: "caption",
      text: "left of the dashed line tasks take less time than by Piscina",
      holds: adapters.every(isBelow),
    },
  ];
}

const KINDS = ["number", "object, 200 B"] as const satisfies readonly ColdKind[];
const PACES = [
  ...GAPS_US.map((size) => [EVERY, size] as const),
  ...RATES.map((size) => [POISSON, size] as const),
];
const LOSSES = "docs/benchmarks/cold-and-sporadic.md";

/** The places of a step of `cold`. */
const coldPlaces = (step: string) => KINDS.map((kind) => [caseOf(step, kind), 1] as const);

/** Quotients of the same figure of two contenders, on every runtime and for every kind. */
const quotients = (
  of: (runtime: string, contender: string, kind: ColdKind) => number,
  [ours, theirs]: readonly [string, string],
): number[] =>
  RUNTIMES.flatMap((runtime) =>
    KINDS.map((kind) => of(runtime, ours, kind) / of(runtime, theirs, kind))
  );

/** The largest ratio of a step of `cold` on each runtime, in words. */
const mostByRuntime = (step: string): string => {
  const most = RUNTIMES.map((runtime) => {
    const ratios = COLD_KINDS.map((kind) =>
      found(runtime, "cold", "heddle", caseOf(step, kind), 1).paired!.ratio
    );
    return `${Math.max(...ratios).toFixed(1)} on ${title(runtime)}`;
  });
  return `${most.slice(0, -1).join(", ")} and ${most.at(-1)}`;
};

const timeOf = (step: string) => (runtime: string, contender: string, kind: ColdKind): number =>
  p50(runtime, "cold", contender, caseOf(step, kind), 1);

function coldClaims(): Claim[] {
  const ofStep = (step: string) => ratiosOf("cold", "heddle", coldPlaces(step));
  const isLater = (contender: string): boolean =>
    RUNTIMES.every((runtime) =>
      KINDS.every((kind) => {
        const theirs = measurementOf(
          resultOf(runtime, "cold"),
          contender,
          caseOf(FIRST_ANSWER, kind),
          1,
        );
        return theirs === undefined || timeOf(FIRST_ANSWER)(runtime, "heddle", kind) > theirs.p50;
      })
    );
  const starts = spread(quotients(startOf, ["heddle", BARE_WORKER]));
  const webWorkers = ["deno", "bun"].map((runtime) =>
    timeOf(FIRST_ANSWER)(runtime, "heddle", "number") /
    timeOf(FIRST_ANSWER)(runtime, WEB_WORKER, "number")
  ).map((ratio) => ratio.toFixed(0));
  const ofAdapter = (step: string): string => spread(quotients(timeOf(step), [ADAPTER, "Piscina"]));
  return [
    {
      file: LOSSES,
      text:
        `**The start** of a program, until its first answer and with the import, takes ${starts} times as long as with a bare worker; ` +
        `after the import the first answer takes ${
          spreadOf(ofStep(FIRST_ANSWER))
        } times as long, and longer than from Piscina or Tinypool, on every runtime`,
      holds: isLater("Piscina") && isLater("Tinypool"),
    },
    {
      file: LOSSES,
      text: `Compared with the global \`Worker\` of Deno and Bun it takes ${
        webWorkers.join(" and ")
      } times as long.`,
      holds: true,
    },
    {
      file: LOSSES,
      text: `**The second call** takes ${spreadOf(ofStep(SECOND_CALL))} times as long`,
      holds: true,
    },
    {
      file: LOSSES,
      text: `**The first 2,000 calls** take up to ${mostByRuntime(FIRST_CALLS)} times as long`,
      holds: true,
    },
    {
      file: LOSSES,
      text: `**The next 10,000 calls** take up to ${mostByRuntime(NEXT_CALLS)} times as long`,
      holds: true,
    },
    {
      file: LOSSES,
      text: `a process takes ${
        spreadOf(ratiosOf("cold", "heddle", [[MEMORY, 1]]))
      } times the memory`,
      holds: true,
    },
    {
      file: "docs/migrating.md",
      text: `the first answer takes ${
        ofAdapter(FIRST_ANSWER)
      } times as long as from Piscina, the second call ${
        ofAdapter(SECOND_CALL)
      } times and the first 2,000 calls ${ofAdapter(FIRST_CALLS)} times`,
      holds: true,
    },
    {
      file: "README.md",
      text:
        `the first result takes ${starts} times as long as with a bare worker, the import included`,
      holds: true,
    },
    {
      file: "README.md",
      text: `${memoryMore()} MiB more for each process`,
      holds: true,
    },
    {
      file: "caption",
      text: "at the start of a program a bare worker is faster",
      holds: ofStep(FIRST_ANSWER).every(({ low }) => low > 1),
    },
  ];
}

/** Resident memory beyond that of a process with a bare worker. */
const memoryMore = (): string =>
  spread(
    RUNTIMES.map((runtime) =>
      p50(runtime, "cold", "heddle", MEMORY, 1) - p50(runtime, "cold", BARE_WORKER, MEMORY, 1)
    ),
  );

function sporadicClaims(): Claim[] {
  const ofHeddle = spreadOf(ratiosOf("sporadic", "heddle", PACES));
  const ofPiscina = spreadOf(ratiosOf("sporadic", "Piscina", PACES));
  const cpu = (contender: string): string =>
    spread(
      RUNTIMES.flatMap((runtime) =>
        PACES.map(([name, size]) =>
          cpuOfCalls(runtime, contender, name, size) / cpuOfCalls(runtime, BARE_WORKER, name, size)
        )
      ),
    );
  const tailOf = (runtime: string, scenario: string, name: string, size: number): number =>
    found(runtime, scenario, "heddle", name, size).p99 /
    found(runtime, scenario, BARE_WORKER, name, size).p99;
  const tails = RUNTIMES.flatMap((runtime) =>
    PACES.map(([name, size]) => tailOf(runtime, "sporadic", name, size))
  );
  const busyTails = RUNTIMES.flatMap((runtime) =>
    [AT_ONCE, EVERY_3_MS].map((name) => tailOf(runtime, "contended", contendedCase(BUSY, name), 1))
  );
  const twenty = ratiosOf(
    "contended",
    "heddle",
    [BUSY, ONE_CORE].map((placement) => [contendedCase(placement, AT_ONCE), 20] as const),
  );
  const tenMs = ratiosOf("sporadic", "heddle", [[EVERY, 10_000]]);
  return [
    {
      file: "README.md",
      text:
        `with pauses between calls each takes ${ofHeddle} times as long as by a bare worker, and by Piscina ${ofPiscina} times`,
      holds: true,
    },
    {
      file: "README.md",
      text: `a call with pauses takes ${
        cpu("heddle")
      } times the processor time of a bare worker's, by Piscina ${cpu("Piscina")} times`,
      holds: true,
    },
    {
      file: LOSSES,
      text: `**Processor time** of calls with pauses is ${
        cpu("heddle")
      } times that of a bare worker, by Piscina ${cpu("Piscina")} times`,
      holds: true,
    },
    {
      file: LOSSES,
      text: `**The tail of calls with pauses** is mostly longer: their 99th percentile is up to ${
        Math.round(Math.max(...tails))
      } times that of a bare worker.`,
      holds: tails.filter((tail) => tail > 1).length > tails.length / 2,
    },
    {
      file: LOSSES,
      text:
        `**Beside a busy process** the 99th percentile of calls one at a time and with pauses is ${
          spread(busyTails)
        } times that of a bare worker`,
      holds: busyTails.some((tail) => tail > 1),
    },
    {
      file: LOSSES,
      text:
        "In the median heddle wins in a hot loop, and with 20 calls at once also beside a busy process and on one core.",
      holds: [...twenty, ...HOT_SIZES.flatMap((size) => pairedOf("hot", ["heddle"], size))]
        .every(({ ratio }) => ratio < 1),
    },
    {
      file: LOSSES,
      text:
        `**A call with pauses** takes ${ofHeddle} times as long as by a bare worker; by Piscina ${ofPiscina} times.`,
      holds: true,
    },
    {
      file: "caption",
      text: "with a pause of 10 ms before each call it takes about as long as a bare worker",
      holds: tenMs.every(({ ratio }) => ratio > 0.8 && ratio < 1.25),
    },
  ];
}

/** All claims, against the results as they are. */
export function claims(): Claim[] {
  return [...sharedClaims(), ...hotClaims(), ...coldClaims(), ...sporadicClaims()];
}
