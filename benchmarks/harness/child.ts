/** What every benchmark process does: read its arguments, print one line of JSON, and end. */
import { parseArgs } from "node:util";
import type { RoundFigure, RoundGap, RoundLine } from "./schema.ts";
import { round, thinOut } from "./statistics.ts";

export interface ChildArguments {
  readonly contender: string;
  /** Those that take turns in this process. */
  readonly contenders: readonly string[];
  readonly isQuick: boolean;
  readonly threads: number;
  /** cold: the kind of value; contended: what disturbs. */
  readonly variant: string;
  /** soak: how long. */
  readonly minutes: number;
  /** concurrency: how long the server waits before it answers. */
  readonly delayMs: number;
}

/** Between the names of contenders on the command line. */
export const NAMES_END = "|";

export function readArguments(): ChildArguments {
  const { values } = parseArgs({
    allowPositionals: true, // the scenario
    options: {
      contender: { type: "string", default: "heddle" },
      quick: { type: "boolean", default: false },
      threads: { type: "string", default: "0" },
      variant: { type: "string", default: "" },
      minutes: { type: "string", default: "10" },
      "delay-ms": { type: "string", default: "1000" },
    },
  });
  return {
    contender: values.contender,
    contenders: values.contender.split(NAMES_END),
    isQuick: values.quick,
    threads: Number(values.threads),
    variant: values.variant,
    minutes: Number(values.minutes),
    delayMs: Number(values["delay-ms"]),
  };
}

/** The contender that the command line names. */
export function chooseContender<C extends { readonly name: string }>(
  contenders: readonly C[],
  name: string,
): C {
  const contender = contenders.find((each) => each.name === name);
  if (contender === undefined) throw new Error(`No contender "${name}" on this runtime.`);
  return contender;
}

/** A figure as a scenario makes it: all samples, in any order. */
export type RoundSamples = Omit<RoundFigure, "count">;

/** A figure of the samples that `take` resolves to, or why there is none. */
export async function attempt(
  place: Omit<RoundSamples, "samples">,
  take: () => Promise<readonly number[]>,
): Promise<RoundSamples | RoundGap> {
  try {
    return { ...place, samples: await take() };
  } catch (error) {
    const { case: name, size } = place;
    return { case: name, size, reason: (error as Error).message, isSkipped: false };
  }
}

/** Samples by figure, in the order in which the figures came. */
export class Figures {
  readonly #found = new Map<string, RoundSamples & { readonly samples: number[] }>();

  add(place: Omit<RoundSamples, "samples">, sample: number): void {
    const { contender, case: name, size } = place;
    const key = `${contender}\n${name}\n${size}`;
    const known = this.#found.get(key);
    if (known === undefined) this.#found.set(key, { ...place, samples: [sample] });
    else known.samples.push(sample);
  }

  get all(): RoundSamples[] {
    return [...this.#found.values()];
  }
}

/** Samples of one figure that a process hands on: enough for every percentile that is reported. */
const MAX_SAMPLES = 2000;

/**
 * Prints the figures and what has none, waits until they are written, and ends: some contenders leave
 * threads behind.
 */
export async function finish(
  found: readonly (RoundSamples | RoundGap)[],
  maxSamples = MAX_SAMPLES,
): Promise<never> {
  const lines = found.map((each): RoundLine =>
    "reason" in each ? each : {
      ...each,
      samples: thinOut([...each.samples].sort((a, b) => a - b), maxSamples),
      count: each.samples.length,
      ...(each.blocks === undefined ? {} : { blocks: each.blocks.map(round) }),
    }
  );
  // stdout carries data only.
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(lines)}\n`, resolve));
  process.exit(0);
}
