/** Names of what `browser` measures, in a page. */
export const SHARED = "heddle, shared memory";
export const MESSAGES = "heddle, messages";
export const BARE = "bare worker";
export const COMLINK = "comlink";
export const WORKERPOOL = "workerpool";

export const CONTENDERS = [SHARED, MESSAGES, BARE, COMLINK, WORKERPOOL] as const;
export type BrowserContender = (typeof CONTENDERS)[number];

export const NUMBER = "number";
export const OBJECT = "object of 200 B";
export const BYTES = "64 KiB of bytes";
/** A call with a number, five milliseconds after the last one. */
export const PAUSED = "number, after a pause";
/** A new worker, from its creation to the first result. */
export const FIRST = "first answer";

/** Kinds of value, with the numbers of calls at once that are measured. */
export const AT_ONCE: Readonly<Record<string, readonly number[]>> = {
  [NUMBER]: [1, 100, 1000],
  [OBJECT]: [1, 100],
  [BYTES]: [1],
};
