/** Tasks that machines serve. */

export function countPrimes(start: number, end: number): number {
  let count = 0;
  for (let n = Math.max(2, start); n < end; n++) {
    let divisor = 2;
    while (divisor * divisor <= n && n % divisor !== 0) divisor++;
    if (divisor * divisor > n) count++;
  }
  return count;
}

export function* primes(end: number): Generator<number> {
  for (let n = 2; n < end; n++) if (countPrimes(n, n + 1) === 1) yield n;
}
