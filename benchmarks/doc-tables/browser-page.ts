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
import {
  figure,
  measurementOf,
  resultOf,
  sourced,
  table,
  type Tables,
  times,
  whenMeasured,
} from "./shared.ts";

type Place = readonly [kind: string, size: number];

/** Median microseconds. */
function of(contender: string, [kind, size]: Place): number | undefined {
  const ns = measurementOf(resultOf("browser", "browser"), contender, kind, size)?.p50;
  return ns === undefined ? undefined : ns / 1000;
}

const nameOf = ([kind, size]: Place): string =>
  kind === FIRST || kind === PAUSED
    ? kind
    : size === 1
    ? `${kind}, one`
    : `${kind}, ${size} at once`;

const PLACES: readonly Place[] = [
  ...Object.entries(AT_ONCE).flatMap(([kind, counts]) => counts.map((size): Place => [kind, size])),
  [PAUSED, 1],
  [FIRST, 1],
];
const FEW: readonly Place[] = [
  [NUMBER, 1],
  [NUMBER, 1000],
  [OBJECT, 100],
  [BYTES, 1],
  [PAUSED, 1],
  [FIRST, 1],
];

const calls = (): string =>
  sourced(
    resultOf("browser", "browser"),
    table(
      ["µs a call, median", ...CONTENDERS, "bare worker ÷ heddle, shared memory"],
      PLACES.map((place) => [
        nameOf(place),
        ...CONTENDERS.map((contender) => figure(of(contender, place))),
        times(of(BARE, place), of(SHARED, place)),
      ]),
    ),
  );

const few = (): string =>
  table(
    ["µs a call, median", ...FEW.map(nameOf)],
    CONTENDERS.map((contender) => [
      contender,
      ...FEW.map((place) => figure(of(contender, place))),
    ]),
  );

const tables = (all: Tables): Tables => whenMeasured("browser", ["browser"], all);

export const BROWSER_TABLES: Tables = tables({ "browser calls": calls });
export const BROWSER_FIGURES: Tables = tables({ "browser figures": few });
