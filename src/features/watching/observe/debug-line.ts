/** A line of `debug`: the pool's name, and the time since it was created, in milliseconds. */
export function debugLine(pool: string, ms: number, text: string): string {
  return `${pool} ${ms.toFixed(3).padStart(9)} ms  ${text}`;
}
