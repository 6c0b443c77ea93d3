/** Pauses before an idempotent call is made again. */

const FIRST_MS = 10;
const MOST_MS = 1000;

/**
 * Exponential back-off with full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter"), but
 * never none: `retry` counts from 1.
 */
export function retryDelayMs(retry: number): number {
  return 1 + Math.random() * Math.min(FIRST_MS * 2 ** (retry - 1), MOST_MS);
}
