/**
 * Sentences of the README, the docs and the captions that say what was measured, and the results that they cite.
 * `claims.test.ts` finds each in its file and compares it with `results/`, so that a new run cannot leave them behind.
 */
import type { Measurement, PairedRatio } from "../harness/schema.ts";
import {
  caseOf,
  type ColdKind,
  FIRST_ANSWER,
  FIRST_CALLS,
  MEMORY,
  SECOND_CALL,
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
  BUSY,
  caseOf as contendedCase,
  EVERY as EVERY_3_MS,
} from "../scenarios/contended-cases.ts";
import { CPU_OF, EVERY, GAPS_US, POISSON, RATES } from "../scenarios/sporadic-cases.ts";
import { measurementOf, resultOf, RUNTIMES } from "./shared.ts";

export interface Claim {
  /** The file that has it, or `caption` for a sentence under charts. */
  readonly file: string;
  /** As it is there, white space aside. A figure is made of the results. */
  readonly text: string;
  /** Whether the results support it. */
  readonly holds: boolean;
}

const BARE_WORKER = "bare worker";

function found(
  runtime: string,
  scenario: string,
  contender: string,
  name: string,
  size: number,
): Measurement {
  const measurement = measurementOf(resultOf(runtime, scenario), contender, name, size);
  if (measurement === undefined) {
    throw new Error(`${runtime} ${scenario} has no ${contender}, ${name}, ${size}`);
  }
  return measurement;
}

const p50 = (...place: Parameters<typeof found>): number => found(...place).p50;

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
      text: "Left of the dashed line calls are answered sooner than by a bare worker.",
      holds: all.every(isBelow),
    },
    {
      file: "caption",
      text: "left of the dashed line tasks are done sooner than by Piscina",
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
const coldPlaces = (step: string, kinds: readonly ColdKind[] = KINDS) =>
  kinds.map((kind) => [caseOf(step, kind), 1] as const);

function coldClaims(): Claim[] {
  const ofStep = (step: string, kinds?: readonly ColdKind[]) =>
    ratiosOf("cold", "heddle", coldPlaces(step, kinds));
  const isLater = (contender: string): boolean =>
    RUNTIMES.every((runtime) =>
      coldPlaces(FIRST_ANSWER).every(([name]) => {
        const theirs = measurementOf(resultOf(runtime, "cold"), contender, name, 1)?.p50;
        return theirs === undefined || p50(runtime, "cold", "heddle", name, 1) > theirs;
      })
    );
  const firstAnswers = ofStep(FIRST_ANSWER);
  return [
    {
      file: LOSSES,
      text: `**The first answer** takes ${
        spreadOf(firstAnswers)
      } times as long as from a bare worker, and longer than from Piscina or Tinypool, on every runtime`,
      holds: isLater("Piscina") && isLater("Tinypool"),
    },
    {
      file: LOSSES,
      text: `**The second call** takes ${spreadOf(ofStep(SECOND_CALL))} times as long`,
      holds: true,
    },
    {
      file: LOSSES,
      text: `**The first 2,000 calls** take ${
        spreadOf(ofStep(FIRST_CALLS, ["number"]))
      } times as long with numbers and ${
        spreadOf(ofStep(FIRST_CALLS, ["object, 200 B"]))
      } times with objects`,
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
        spread(RUNTIMES.flatMap((runtime) =>
          coldPlaces(FIRST_ANSWER).map(([name]) =>
            p50(runtime, "cold", ADAPTER, name, 1) / p50(runtime, "cold", "Piscina", name, 1)
          )
        ))
      } times as long as from Piscina`,
      holds: true,
    },
    {
      file: "README.md",
      text: `the first answer takes ${spreadOf(firstAnswers)} times as long as from a bare worker`,
      holds: true,
    },
    {
      file: "caption",
      text: "at the start of a program a bare worker answers first",
      holds: firstAnswers.every(({ low }) => low > 1),
    },
  ];
}

function sporadicClaims(): Claim[] {
  const ofHeddle = spreadOf(ratiosOf("sporadic", "heddle", PACES));
  const ofPiscina = spreadOf(ratiosOf("sporadic", "Piscina", PACES));
  const cpu = spreadOf(
    ratiosOf("sporadic", "heddle", PACES.map(([name, size]) => [CPU_OF[name]!, size])),
  );
  const tails = RUNTIMES.flatMap((runtime) =>
    PACES.map(([name, size]) =>
      found(runtime, "sporadic", "heddle", name, size).p99 /
      found(runtime, "sporadic", BARE_WORKER, name, size).p99
    )
  );
  const busy = contendedCase(BUSY, EVERY_3_MS);
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
      text: `a call with pauses takes ${cpu} times the processor time of a bare worker's`,
      holds: true,
    },
    {
      file: LOSSES,
      text: `**Processor time** of calls with pauses is ${cpu} times that of a bare worker`,
      holds: true,
    },
    {
      file: LOSSES,
      text: `**The tail of calls with pauses** is longer: their 99th percentile is up to ${
        Math.round(Math.max(...tails))
      } times that of a bare worker.`,
      holds: true,
    },
    {
      file: LOSSES,
      text:
        "**Calls with pauses beside a busy process** have a longer tail than a bare worker's, too",
      holds: RUNTIMES.every((runtime) =>
        found(runtime, "contended", "heddle", busy, 1).p99 >
          found(runtime, "contended", BARE_WORKER, busy, 1).p99
      ),
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
