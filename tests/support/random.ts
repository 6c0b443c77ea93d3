/** A small seeded generator (mulberry32): the same numbers on every runtime. */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer from 0 to `most`. */
export function upTo(random: () => number, most: number): number {
  return Math.floor(random() * (most + 1));
}

/** A seed for this run: fixed by HEDDLE_SEED, otherwise new each time, and printed on failure. */
export function seedOfRun(): number {
  const given = Number(process.env["HEDDLE_SEED"]);
  return Number.isInteger(given) && given > 0 ? given : Math.floor(Math.random() * 2 ** 31);
}

/** Words of body of a random record: mostly small, at times a quarter of the ring. */
export function recordWords(random: () => number, capacity: number): number {
  const largest = (capacity >> 2) / 4 - 2;
  const kind = random();
  const limit = kind < 0.7 ? Math.min(8, largest) : kind < 0.95 ? Math.min(64, largest) : largest;
  return 1 + Math.floor(random() * limit);
}
