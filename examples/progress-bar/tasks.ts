import { emit } from "heddle/task";

const STEPS = 10;

/** The sum of 1/n², whose limit is π²/6. Tells its caller how far it has come. */
export function sumOfSquares(terms: number): number {
  let sum = 0;
  for (let step = 1; step <= STEPS; step++) {
    const end = Math.floor(terms * step / STEPS);
    for (let n = Math.floor(terms * (step - 1) / STEPS) + 1; n <= end; n++) sum += 1 / (n * n);
    emit({ percent: 100 * step / STEPS });
  }
  return sum;
}
