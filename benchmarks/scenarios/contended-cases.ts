/** Names of what `contended` measures: runs, tables and charts tell them apart. */

const inBursts = (placement: string): string => `${placement}, in bursts`;

export const BUSY = "busy process beside";
const PER_CORE = "busy process per core beside";
const TWO_PER_CORE = "two busy processes per core beside";
export const ONE_CORE = "all threads on one core";
export const HALF_CORE = "half a core";

/** Processes that compute beside, of a machine with so many cores. */
const BESIDE: Readonly<Record<string, (cores: number) => number>> = {
  [BUSY]: () => 1,
  [PER_CORE]: (cores) => cores,
  [inBursts(PER_CORE)]: (cores) => cores,
  [TWO_PER_CORE]: (cores) => 2 * cores,
  [inBursts(TWO_PER_CORE)]: (cores) => 2 * cores,
};

export const PLACEMENTS: readonly string[] = [...Object.keys(BESIDE), ONE_CORE, HALF_CORE];
/** A quick run leaves out the others. */
export const QUICK_PLACEMENTS: readonly string[] = [
  BUSY,
  inBursts(PER_CORE),
  ONE_CORE,
  HALF_CORE,
];

export const processesBeside = (placement: string, cores: number): number =>
  BESIDE[placement]?.(cores) ?? 0;
export const isInBursts = (placement: string): boolean =>
  placement === inBursts(PER_CORE) ||
  placement === inBursts(TWO_PER_CORE);

/** heddle that always parks. */
export const NEVER_SPINNING = "heddle, spinMs: 0";

export const AT_ONCE = "calls at once";
export const EVERY = "one call every 3 ms";
export const EVERY_MS = 3;
export const SIZES = [1, 20] as const;

export const caseOf = (placement: string, what: string): string => `${placement}: ${what}`;
/** The processor time that goes with a case. */
export const cpuOf = (name: string): string => `processor time, ${name}`;
