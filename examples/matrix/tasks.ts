/** A square matrix in shared memory, row by row. */
export type Matrix = Float64Array<SharedArrayBuffer>;

/** Rows `from` to `to` of a × b, written into `product`. */
export function multiply(a: Matrix, b: Matrix, product: Matrix, from: number, to: number): void {
  const size = Math.sqrt(a.length);
  for (let row = from; row < to; row++) {
    const sums = new Float64Array(size);
    for (let k = 0; k < size; k++) {
      const factor = a[row * size + k]!;
      const at = k * size;
      for (let column = 0; column < size; column++) sums[column]! += factor * b[at + column]!;
    }
    product.set(sums, row * size);
  }
}

/** Writes into its argument. Only if that is in shared memory the caller sees it. */
export function fill(numbers: Float64Array, value: number): void {
  numbers.fill(value);
}
