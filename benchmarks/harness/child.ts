/** What every benchmark process does: read its arguments, print one line of JSON, and end. */
import { parseArgs } from "node:util";
import type { RoundFigure } from "./schema.ts";

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

/** stdout carries data only. */
export function printFigures(figures: readonly RoundFigure[]): void {
  console.log(JSON.stringify(figures));
}
