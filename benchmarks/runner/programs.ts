/** The processes of `programs`. */
import { LANGUAGES } from "../programs/languages.ts";
import {
  BARE_WORKER,
  GOROUTINES,
  HEDDLE,
  heddleWith,
  JAVASCRIPT,
  workerCounts,
} from "../scenarios/programs-cases.ts";
import type { Choices, Contender } from "./scenario.ts";

const byName = (name: string): Contender => ({ name, args: ["--contender", name] });

/** Languages run as `native`; a list that is asked for has all of them. */
export function programContenders(
  { isQuick, threads }: Choices,
  runtime: string,
): readonly Contender[] {
  const native = [...LANGUAGES.map(({ name }) => byName(name)), byName(GOROUTINES)];
  if (runtime === "native") return native;
  const counts = isQuick ? [threads] : workerCounts(threads);
  const scripts: readonly Contender[] = [
    byName(JAVASCRIPT),
    ...counts.map((count) => ({
      name: heddleWith(count),
      variantOf: HEDDLE,
      args: ["--contender", HEDDLE, "--threads", String(count)],
    })),
    byName(HEDDLE),
    byName(BARE_WORKER),
  ];
  return runtime === "" ? [...scripts, ...native] : scripts;
}
