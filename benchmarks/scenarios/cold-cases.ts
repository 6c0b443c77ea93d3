/** Names of what `cold` measures: runs, tables and charts tell them apart. */
export const IMPORT = "import";
export const MEMORY = "resident memory";

export const FIRST_ANSWER = "first answer";
export const SECOND_CALL = "second call";
export const THIRD_CALL = "third call";
export const FIRST_CALLS = "first 2,000 calls";
export const NEXT_CALLS = "next 10,000 calls";

/** A worker by hand of the global class `Worker`, which Node does not have. */
export const WEB_WORKER = "bare web worker";

/** Steps of which there is a figure for each kind of value. */
export const STEPS = [FIRST_ANSWER, SECOND_CALL, THIRD_CALL, FIRST_CALLS, NEXT_CALLS] as const;

/** What is sent; a process for each. */
export const COLD_KINDS = ["number", "string, 16 B", "object, 200 B", "bytes, 1 KiB"] as const;
export type ColdKind = typeof COLD_KINDS[number];
/** A quick run has these only. */
export const QUICK_KINDS: readonly ColdKind[] = ["number", "object, 200 B"];

export const caseOf = (step: string, kind: ColdKind): string => `${step}, ${kind}`;
