/** Tasks of the scenario `nats`. */
export const echo = (text: string): string => text;

/** Computes for a time. */
export function spin(us: number): number {
  const end = performance.now() + us / 1000;
  let turns = 0;
  // At least one, also if the thread had to wait for a core.
  do turns++; while (performance.now() < end);
  return turns;
}
