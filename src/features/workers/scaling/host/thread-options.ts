/** The options of `createPool` that say how many workers there are. */
import { InvalidArgumentError } from "../../../../errors.ts";
import { checkInteger, invalid, show } from "../../../../option-checks.ts";
import type { Check } from "../../../../api/options/resolved-options.ts";
import * as deferred from "./deferred.ts";

/** More threads than this are probably a mistake. */
const MAX_THREADS = 1024;

/** Checks all of them together, for each that is given. */
export const resolveThreads: Check = (_value, to, given, { cores }) => {
  const { budget, minThreads: least, maxThreads: most } = given;
  if (budget !== undefined && !(budget instanceof deferred.PoolBudget)) {
    throw invalid("budget", "a budget that threadBudget() returned", show(budget));
  }
  const wanted = given.threads === "auto" ? undefined : given.threads;
  const isAuto = wanted === undefined && most === undefined;
  const auto = budget === undefined ? Math.max(1, cores - 1) : isAuto ? budget.max : 1;
  const threads = wanted === undefined ? auto : checkInteger("threads", wanted, 0, MAX_THREADS);
  const min = least === undefined ? least : checkInteger("minThreads", least, 0, MAX_THREADS);
  const max = most === undefined ? most : checkInteger("maxThreads", most, 1, MAX_THREADS);
  if (wanted !== undefined && max !== undefined && threads > max) {
    throw tooMany("threads", threads, "maxThreads", max);
  }
  if (wanted !== undefined && min !== undefined && min > threads) {
    throw tooMany("minThreads", min, "threads", threads);
  }
  const maxThreads = max ?? Math.max(threads, min ?? 0);
  // An automatic number is no demand: beside pools with a budget such a pool starts with one thread.
  const isFromOne = wanted === undefined && budget !== undefined;
  const minThreads = min ?? Math.min(isFromOne ? 1 : threads, maxThreads);
  if (minThreads > maxThreads) throw tooMany("minThreads", minThreads, "maxThreads", maxThreads);
  const guaranteed = isAuto && min === undefined ? 1 : minThreads;
  const share = { guaranteed, isLimited: isAuto || budget !== undefined };
  Object.assign(to, { minThreads, maxThreads, budget, share });
};

function tooMany(name: string, threads: number, limitName: string, limit: number): Error {
  return new InvalidArgumentError(
    `${name}, ${threads}, must not be more than ${limitName}, ${limit}.`,
  );
}
