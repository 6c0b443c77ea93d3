export function countPrimes(limit: number): number {
  let count = 0;
  for (let n = 2; n < limit; n++) {
    let divisor = 2;
    while (divisor * divisor <= n && n % divisor !== 0) divisor++;
    if (divisor * divisor > n) count++;
  }
  return count;
}
