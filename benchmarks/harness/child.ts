/** What every benchmark process does: read its arguments, print one line of JSON, and end. */
import { parseArgs } from "node:util";
import type { RoundFigure } from "./schema.ts";
import { thinOut } from "./statistics.ts";

export interface ChildArguments {
  readonly contender: string;
  readonly isQuick: boolean;
  readonly threads: number;
}

export function readArguments(): ChildArguments {
  const { values } = parseArgs({
    options: {
      contender: { type: "string", default: "heddle" },
      quick: { type: "boolean", default: false },
      threads: { type: "string", default: "0" },
    },
  });
  return { contender: values.contender, isQuick: values.quick, threads: Number(values.threads) };
}

/** Samples of one figure that a process hands on: enough for every percentile that is reported. */
const MAX_SAMPLES = 2000;

/** Prints the figures, waits until they are written, and ends: some contenders leave threads behind. */
export async function finish(figures: readonly Omit<RoundFigure, "count">[]): Promise<never> {
  const lines = figures.map((figure): RoundFigure => ({
    ...figure,
    samples: thinOut([...figure.samples].sort((a, b) => a - b), MAX_SAMPLES),
    count: figure.samples.length,
  }));
  // stdout carries data only.
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(lines)}\n`, resolve));
  process.exit(0);
}
