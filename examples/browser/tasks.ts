/** What the workers compute. */
import { transfer } from "heddle/task";

/** A part of the plane, as pixels: rows `from` to `to` of an image. */
export interface Band {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
  /** The middle of the image, and the width of a pixel. */
  readonly x: number;
  readonly y: number;
  readonly step: number;
  readonly iterations: number;
}

/** The rows as RGBA, four bytes a pixel. The bytes move to the page. */
export function mandelbrot(band: Band): { from: number; pixels: Uint8ClampedArray<ArrayBuffer> } {
  const { width, height, from, to, x, y, step, iterations } = band;
  const pixels = new Uint8ClampedArray(4 * width * (to - from));
  let at = 0;
  for (let row = from; row < to; row++) {
    const imaginary = y + (row - height / 2) * step;
    for (let column = 0; column < width; column++) {
      at = paint(pixels, at, escapeTime(x + (column - width / 2) * step, imaginary, iterations));
    }
  }
  return transfer({ from, pixels }, [pixels.buffer]);
}

/** Steps until the point is known to escape, with a fraction; -1: it seems to stay. */
function escapeTime(x: number, y: number, iterations: number): number {
  let [real, imaginary, realSquared, imaginarySquared] = [0, 0, 0, 0];
  for (let step = 0; step < iterations; step++) {
    imaginary = 2 * real * imaginary + y;
    real = realSquared - imaginarySquared + x;
    realSquared = real * real;
    imaginarySquared = imaginary * imaginary;
    const size = realSquared + imaginarySquared;
    if (size > 256) return step + 1 - Math.log2(Math.log2(size) / 2);
  }
  return -1;
}

/** A smooth scale from deep blue over white to amber. */
function paint(pixels: Uint8ClampedArray, at: number, time: number): number {
  if (time >= 0) {
    const turn = Math.sqrt(time) / 3.2;
    pixels[at] = 128 + 127 * Math.sin(6.283 * turn - 2.1);
    pixels[at + 1] = 118 + 110 * Math.sin(6.283 * turn - 1.5);
    pixels[at + 2] = 140 + 110 * Math.sin(6.283 * turn - 0.7);
  }
  pixels[at + 3] = 255;
  return at + 4;
}

/** How many primes there are from `from` to below `to`, by a sieve of odd numbers. */
export function countPrimes({ from, to }: { from: number; to: number }): number {
  const first = from | 1;
  const composite = new Uint8Array(Math.ceil((to - first) / 2));
  for (let divisor = 3; divisor * divisor < to; divisor += 2) {
    const least = Math.max(divisor, Math.ceil(first / divisor));
    for (let n = divisor * (least | 1); n < to; n += 2 * divisor) composite[(n - first) >> 1] = 1;
  }
  let primes = from <= 2 && to > 2 ? 1 : 0;
  for (let index = first === 1 ? 1 : 0; index < composite.length; index++) {
    primes += 1 - composite[index]!;
  }
  return primes;
}
