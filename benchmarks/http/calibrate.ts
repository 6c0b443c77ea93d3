/** How many steps of `compute` take a given time on this runtime and machine. */
import { compute } from "./routes.ts";

/** Some 5 ms on a core of 2026. */
const TRIAL_STEPS = 4_000_000;
/** The shortest of so many counts: compiled, and not interrupted. */
const TRIALS = 12;

export function stepsFor(ms: number): number {
  let least = Infinity;
  for (let trial = 0; trial < TRIALS; trial++) {
    const from = performance.now();
    compute(TRIAL_STEPS);
    least = Math.min(least, performance.now() - from);
  }
  return Math.round(TRIAL_STEPS * ms / least);
}
