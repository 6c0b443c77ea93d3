/** The tables of docs/benchmarks/browser.md and docs/browser.md. */
import * as browser from "../scenarios/browser-cases.ts";
import * as page from "./page.ts";

type Place = readonly [kind: string, size: number];

/** Median microseconds. */
function of(contender: string, [kind, size]: Place): number | undefined {
  const ns = page.measurementOf(page.resultOf("browser", "browser"), contender, kind, size)?.p50;
  return ns === undefined ? undefined : ns / 1000;
}

const nameOf = ([kind, size]: Place): string =>
  kind === browser.FIRST || kind === browser.PAUSED
    ? kind
    : size === 1
    ? `${kind}, one`
    : `${kind}, ${size} at once`;

const PLACES: readonly Place[] = [
  ...Object.entries(browser.AT_ONCE).flatMap(([kind, counts]) =>
    counts.map((size): Place => [kind, size])
  ),
  [browser.PAUSED, 1],
  [browser.FIRST, 1],
];
const FEW: readonly Place[] = [
  [browser.NUMBER, 1],
  [browser.NUMBER, 1000],
  [browser.OBJECT, 100],
  [browser.BYTES, 1],
  [browser.PAUSED, 1],
  [browser.FIRST, 1],
];

const calls = (): string =>
  page.sourced(
    page.resultOf("browser", "browser"),
    page.table(
      ["µs a call, median", ...browser.CONTENDERS, "bare worker ÷ heddle, shared memory"],
      PLACES.map((place) => [
        nameOf(place),
        ...browser.CONTENDERS.map((contender) => page.figure(of(contender, place))),
        page.times(of(browser.BARE, place), of(browser.SHARED, place)),
      ]),
    ),
  );

const few = (): string =>
  page.table(
    ["µs a call, median", ...FEW.map(nameOf)],
    browser.CONTENDERS.map((contender) => [
      contender,
      ...FEW.map((place) => page.figure(of(contender, place))),
    ]),
  );

const tables = (all: page.Tables): page.Tables => page.whenMeasured("browser", ["browser"], all);

export const BROWSER_TABLES: page.Tables = tables({ "browser calls": calls });
export const BROWSER_FIGURES: page.Tables = tables({ "browser figures": few });
