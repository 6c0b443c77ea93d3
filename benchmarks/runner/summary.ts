/** What a run says at its end, in 80 columns: how much faster the cores are together, and heddle beside others. */
import { existsSync, readFileSync } from "node:fs";
import { GROUPS, type OverviewResults, valuesOf } from "../../graphs/overview-charts.ts";
import type { Measurement, ScenarioResult } from "../harness/schema.ts";

const RUNTIMES = ["node", "deno", "bun"] as const;
const OTHERS = ["bare worker", "Piscina", "Tinypool"] as const;
const LABEL_WIDTH = 22;
const OWN_WIDTH = 9;
const OTHER_WIDTH = 16;

function readOverview(results: string, runtime: string): OverviewResults | undefined {
  const [hot, sporadic, cold] = ["hot", "sporadic", "cold"].map((scenario) => {
    const file = `${results}${runtime}/${scenario}.json`;
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as ScenarioResult : undefined;
  });
  return hot && sporadic && cold ? { hot, sporadic, cold } : undefined;
}

const threeDigits = (value: number): string => String(Number(value.toPrecision(3)));

const formatUs = (us: number | undefined): string => {
  if (us === undefined) return "–";
  return us < 1000 ? `${threeDigits(us)} µs` : `${threeDigits(us / 1000)} ms`;
};

/** The time of another library, and how many times that of heddle it is. */
function beside(us: number | undefined, own: number | undefined): string {
  if (us === undefined || own === undefined) return formatUs(us);
  return `${formatUs(us)} ${Number((us / own).toPrecision(2))}×`.padStart(OTHER_WIDTH);
}

/** A table for each runtime that has all three scenarios; empty if none has. */
export function summaryOf(results: string): string {
  const tables = RUNTIMES.flatMap((runtime) => {
    const overview = readOverview(results, runtime);
    if (overview === undefined) return [];
    const own = valuesOf(overview, "heddle");
    const others = OTHERS.map((contender) => valuesOf(overview, contender));
    const head = [
      `${runtime}, median`.padEnd(LABEL_WIDTH),
      "heddle".padStart(OWN_WIDTH),
      ...OTHERS.map((name) => name.padStart(OTHER_WIDTH)),
    ].join("");
    const rows = GROUPS.map(({ short }, at) =>
      [
        short.padEnd(LABEL_WIDTH),
        formatUs(own[at]?.value).padStart(OWN_WIDTH),
        ...others.map((values) => beside(values[at]?.value, own[at]?.value).padStart(OTHER_WIDTH)),
      ].join("").trimEnd()
    );
    return [[head, ...rows].join("\n")];
  });
  if (tables.length === 0) return "";
  return `${tables.join("\n\n")}\n\nBehind a time: how many times that of heddle it is.`;
}

/** One line about `heavy-load`: the time of one thread, and of all with the speed-up. */
export function speedUpOf({ runtime, measurements }: ScenarioResult): string {
  const ours = measurements.filter(({ contender }) => /^main(?: alone| \+ \d+)$/.test(contender));
  const alone = ours.find(({ size }) => size === 0);
  const best = ours.filter(({ size }) => size > 0).toSorted((a, b) => a.p50 - b.p50)[0];
  if (alone === undefined || best?.speedUp === undefined) return "";
  return `${runtime}: all primes up to 10,000,000 in ${
    best.p50.toFixed(0)
  } ms by ${best.contender} ` +
    `thread${best.size === 1 ? "" : "s"}, ${
      best.speedUp.toFixed(2)
    } × as fast as one thread alone (${alone.p50.toFixed(0)} ms)`;
}

/**
 * The same for every number of workers, with the machine, in one line that can be sent to us: how heddle does on many cores is known
 * from a simulation alone. In brackets: the same split by hand.
 */
export function reportOf(
  { machine, runtime, version, commit, measurements }: ScenarioResult,
): string {
  const at = (contender: string): Measurement | undefined =>
    measurements.find((each) => each.contender === contender);
  const sizes = [...new Set(measurements.map(({ size }) => size))].toSorted((a, b) => a - b);
  const figures = sizes.flatMap((size) => {
    const ours = at(size === 0 ? "main alone" : `main + ${size}`);
    if (ours === undefined) return [];
    const byHand = at(`main + ${size}, by hand`);
    return `${size}: ${ours.p50.toFixed(0)}${
      byHand === undefined ? "" : ` (${byHand.p50.toFixed(0)})`
    }`;
  });
  return `heavy-load, ${machine.cpu} × ${machine.cores}, ${machine.kernel}, ${runtime} ${version}, heddle ${commit}; ` +
    `ms by workers: ${figures.join(", ")}`;
}
