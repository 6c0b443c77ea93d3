/** Names of what `sporadic` measures: runs, tables and charts tell them apart. */
export const EVERY = "one call every";
export const POISSON = "Poisson arrivals";
export const CPU_OF: Readonly<Record<string, string>> = {
  [EVERY]: "processor time, one call every",
  [POISSON]: "processor time, Poisson arrivals",
};

/** Receives the arrivals and calls nothing: what its processor time is beyond that is what calls cost. */
export const NO_CALLS = "no calls";

/** `size` of the cases with a steady pace: microseconds between two calls. */
export const GAPS_US = [500, 1000, 3000, 10_000, 40_000] as const;
/** `size` of those with a random one: calls a second. */
export const RATES = [100, 1000, 10_000] as const;
