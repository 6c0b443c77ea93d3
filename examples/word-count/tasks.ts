export type Counts = Map<string, number>;

export function countWords(text: string): Counts {
  const counts: Counts = new Map();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** Associative, as `reduce` needs it: it does not matter which counts are added first. */
export function add(one: Counts, other: Counts): Counts {
  const counts = new Map(one);
  for (const [word, count] of other) counts.set(word, (counts.get(word) ?? 0) + count);
  return counts;
}
