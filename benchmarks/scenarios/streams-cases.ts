/** Names of the figures of `streams`. */

export const STREAM_KINDS = ["number", "object, 200 B", "bytes, 16 KiB"] as const;
export type StreamKind = typeof STREAM_KINDS[number];

export const resultCase = (kind: StreamKind): string => `${kind}, from the worker`;
export const argumentCase = (kind: StreamKind): string => `${kind}, to the worker`;
export const MAP = "x * x for a million numbers";
export const MEMORY_AFTER = "memory after so many million numbers";

export const BY_MAP = "heddle, map";
export const BY_CALLS = "heddle, batches of 1,000 calls";
export const MEMORY_CONTENDER = "heddle, memory";
