/** The tables of docs/benchmarks/browser.md and docs/browser.md. */
import {
  AT_ONCE,
  BARE,
  BYTES,
  CONTENDERS,
  FIRST,
  NUMBER,
  OBJECT,
  PAUSED,
  SHARED,
} from "../scenarios/browser-cases.ts";
import { figure, hasResult, measurementOf, resultOf, sourceOf, table, times } from "./shared.ts";

const NOT_MEASURED = "Not measured yet.";
const isMeasured = (): boolean => hasResult("browser", "browser");

/** Median microseconds. */
function of(contender: string, kind: string, size: number): number | undefined {
  const ns = measurementOf(resultOf("browser", "browser"), contender, kind, size)?.p50;
  return ns === undefined ? undefined : ns / 1000;
}

const PLACES = [
  ...Object.entries(AT_ONCE).flatMap(([kind, counts]) => counts.map((size) => ({ kind, size }))),
  { kind: PAUSED, size: 1 },
  { kind: FIRST, size: 1 },
];

const nameOf = (kind: string, size: number): string =>
  kind === FIRST || kind === PAUSED
    ? kind
    : size === 1
    ? `${kind}, one`
    : `${kind}, ${size} at once`;

function calls(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const rows = PLACES.map(({ kind, size }) => [
    nameOf(kind, size),
    ...CONTENDERS.map((contender) => figure(of(contender, kind, size))),
    times(of(BARE, kind, size), of(SHARED, kind, size)),
  ]);
  const head = ["µs a call, median", ...CONTENDERS, "bare worker ÷ heddle, shared memory"];
  return `${sourceOf(resultOf("browser", "browser"))}\n\n${
    table(head, `l${"r".repeat(head.length - 1)}`, rows)
  }`;
}

/** A few of them. */
function few(): string {
  if (!isMeasured()) return NOT_MEASURED;
  const places = [
    { kind: NUMBER, size: 1 },
    { kind: NUMBER, size: 1000 },
    { kind: OBJECT, size: 100 },
    { kind: BYTES, size: 1 },
    { kind: PAUSED, size: 1 },
    { kind: FIRST, size: 1 },
  ];
  const rows = CONTENDERS.map((contender) => [
    contender,
    ...places.map(({ kind, size }) => figure(of(contender, kind, size))),
  ]);
  const head = ["µs a call, median", ...places.map(({ kind, size }) => nameOf(kind, size))];
  return table(head, `l${"r".repeat(places.length)}`, rows);
}

export const BROWSER_TABLES: Readonly<Record<string, () => string>> = { "browser calls": calls };
export const BROWSER_FIGURES: Readonly<Record<string, () => string>> = { "browser figures": few };
