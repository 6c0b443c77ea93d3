/** Counting primes by trial division: pure computation, nothing shared. */
export const LIMIT = 10_000_000;
export const CHUNK = 250_000;
export const PRIMES_BELOW_LIMIT = 664_579;

function isPrime(n: number): boolean {
  if (n < 4) return n > 1;
  if (n % 2 === 0 || n % 3 === 0) return false;
  for (let divisor = 5; divisor * divisor <= n; divisor += 6) {
    if (n % divisor === 0 || n % (divisor + 2) === 0) return false;
  }
  return true;
}

/** Primes from `start` up to, not including, `end`. */
export function countPrimes(start: number, end: number): number {
  let count = 0;
  for (let n = start; n < end; n++) if (isPrime(n)) count++;
  return count;
}
