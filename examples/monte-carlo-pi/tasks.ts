/** Mulberry32: the same numbers for the same seed on every runtime. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random points of the unit square that lie in the quarter circle. */
export function hits(seed: number, points: number): number {
  const random = randomOf(seed);
  let count = 0;
  for (let n = 0; n < points; n++) {
    const x = random();
    const y = random();
    if (x * x + y * y < 1) count++;
  }
  return count;
}
