/** The two programs of the page, as lists of calls. */
import type { Band } from "./tasks.ts";

export interface View {
  readonly x: number;
  readonly y: number;
  /** Width of the part of the plane that is shown. */
  readonly span: number;
}

export const WHOLE: View = { x: -0.65, y: 0, span: 3.2 };

/** Bands of a few rows: every worker has one at any time, and the page draws often. */
export function bandsOf(view: View, width: number, height: number): readonly Band[] {
  const step = view.span / width;
  const iterations = Math.round(900 + 220 * Math.log2(WHOLE.span / view.span + 1));
  const rows = Math.max(2, Math.ceil(height / 120));
  const bands: Band[] = [];
  for (let from = 0; from < height; from += rows) {
    const to = Math.min(from + rows, height);
    bands.push({ width, height, from, to, x: view.x, y: view.y, step, iterations });
  }
  // From the middle outwards, where people look.
  return bands.sort((one, other) =>
    Math.abs(one.from - height / 2) - Math.abs(other.from - height / 2)
  );
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

export function rangesTo(limit: number): readonly Range[] {
  const size = 1_000_000;
  return Array.from({ length: Math.ceil(limit / size) }, (_, index) => ({
    from: index * size,
    to: Math.min((index + 1) * size, limit),
  }));
}
