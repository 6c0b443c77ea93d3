/** The key of a call in maps. Exact for 4 million slots. */
export function keyOf(slot: number, generation: number): number {
  return slot * 2 ** 31 + generation;
}
