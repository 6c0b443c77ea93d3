/**
 * Sentences of the README, the docs and the captions that say what was measured, and the results that they cite.
 * `claims.test.ts` finds each in its file and compares it with `results/`, so that a new run cannot leave them behind.
 */
import type { Measurement } from "../harness/schema.ts";
import { caseOf, FIRST_ANSWER, FIRST_CALLS, SECOND_CALL } from "../scenarios/cold-cases.ts";
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
import { EVERY, GAPS_US } from "../scenarios/sporadic-cases.ts";
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

/** How many times as long as the first contender the second takes. */
const timesOf = (
  runtime: string,
  scenario: string,
  [first, second]: readonly [string, string],
  name: string,
  size: number,
): number => p50(runtime, scenario, second, name, size) / p50(runtime, scenario, first, name, size);

const everywhere = (holds: (runtime: string) => boolean): boolean => RUNTIMES.every(holds);

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
    `On two cores \`get\` of a number takes ${get(HEDDLE, NUMBER_BYTES)} µs where a hot call takes ${
      get("hot call", NUMBER_BYTES)
    } µs, and an object of 200 B ${get(HEDDLE, OBJECT_BYTES)} µs where a call takes ${
      get("hot call", OBJECT_BYTES)
    } µs.`,
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
  RUNTIMES.flatMap((runtime) =>
    [NUMBER, OBJECT].flatMap((name) =>
      contenders.map((contender) => found(runtime, scenario, contender, name, size).paired!)
    )
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

/** All claims, against the results as they are. */
export function claims(): Claim[] {
  return [...sharedClaims(), ...hotClaims()];
}
