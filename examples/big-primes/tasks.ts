function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let rest = exponent, square = base; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = result * square % modulus;
    square = square * square % modulus;
  }
  return result;
}

const BASES = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n];

/** Miller and Rabin's test with twelve bases. */
export function isProbablePrime(n: bigint): boolean {
  for (const base of BASES) if (n % base === 0n) return n === base;
  let odd = n - 1n;
  let twos = 0;
  for (; (odd & 1n) === 0n; odd >>= 1n) twos++;
  return BASES.every((base) => {
    let x = power(base, odd, n);
    for (let step = 0; step < twos; step++) {
      if (x === 1n) return step === 0;
      if (x === n - 1n) return true;
      x = x * x % n;
    }
    return false;
  });
}

/** The least distance in [from, to) below 2 ** bits where there is a prime. */
export function primeBelow(bits: number, from: number, to: number): number | undefined {
  for (let distance = from | 1; distance < to; distance += 2) {
    if (isProbablePrime((1n << BigInt(bits)) - BigInt(distance))) return distance;
  }
  return undefined;
}
