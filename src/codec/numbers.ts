/**
 * Numbers as the engine likes them. An element read from a Float64Array is a double even if it is a
 * whole number, and stays one: code that computes with it (`%`, `*`, array indices) runs several times
 * slower than with the small integer that the caller passed. A trial division ran 8 times slower.
 */

/** The same number; a small integer in the engine's own representation if it is one. Keeps -0. */
export function normalizeNumber(value: number): number {
  const integer = value | 0;
  return integer === value && (integer !== 0 || 1 / value > 0) ? integer : value;
}
