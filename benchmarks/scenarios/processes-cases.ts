/** Names of what `processes` measures: runs, tables and charts tell them apart. */
import { HOT_VALUES } from "./hot-cases.ts";

export const JEST_WORKER = "jest-worker";
export const TINYPOOL = "Tinypool";
export const WORKERPOOL = "workerpool";
/** A child by hand, with its messages as JSON, which is the default. */
export const BARE_FORK = "bare fork";

const LARGE_LENGTH = 2 ** 20;
const LARGE = "a string of 1 MiB";

export const PROCESS_VALUES = [
  ...HOT_VALUES,
  { name: LARGE, create: (): unknown => "heddle".repeat(LARGE_LENGTH).slice(0, LARGE_LENGTH) },
] as const;

/** Calls at once. A hundred times a MiB would be megabytes in a pipe. */
export const sizesOf = (name: string): readonly number[] => name === LARGE ? [1] : [1, 100];
