/** Options that are bytes, or a percentage of the memory that the program may use. */
import { InvalidArgumentError } from "../../../../errors.ts";
import { invalid, show } from "../../../../option-checks.ts";
import type { OptionsRuntime } from "../../../../api/options/resolved-options.ts";
import type { SystemMemory } from "../../../../runtimes/runtime.ts";

const PERCENTAGE = /^(\d+(?:\.\d+)?)%$/;

/** Bytes. `range`: the numbers that are allowed. Throws InvalidArgumentError. */
export function checkBytes(
  name: string,
  value: unknown,
  range: { readonly min: number; readonly isEndless: boolean },
  runtime: OptionsRuntime,
): number {
  if (typeof value === "number") {
    const isBytes = Number.isSafeInteger(value) && value >= range.min;
    if (isBytes || (range.isEndless && value === Infinity)) return value;
  }
  const percent = typeof value === "string" ? Number(PERCENTAGE.exec(value)?.[1]) : NaN;
  if (percent > 0 && percent <= 100) {
    return Math.max(1, Math.floor(readMemory(name, runtime).totalBytes * percent / 100));
  }
  const integer = `an integer from ${range.min} to ${Number.MAX_SAFE_INTEGER}`;
  const numbers = range.isEndless ? `${integer}, or Infinity` : integer;
  throw invalid(name, `${numbers}, or a percentage such as "20%", at most "100%"`, show(value));
}

/** The memory of the system. Throws InvalidArgumentError: `name` cannot be enforced without it. */
export function readMemory(name: string, { systemMemory }: OptionsRuntime): SystemMemory {
  const memory = systemMemory!();
  if (typeof memory !== "string") return memory;
  throw new InvalidArgumentError(`${name} cannot read the memory of the system: ${memory}.`);
}
