/** A line on stderr that tells how far the linter is, so that stdout has its findings alone. */
import process from "node:process";

const MIN_PAUSE_MS = 100;
const CLEAR_LINE = "\r\u001b[K";

export interface Progress {
  /** So many more files are done. */
  step(count: number): void;
  /** Makes room for other output. */
  clear(): void;
}

export function showProgress(total: number): Progress {
  let done = 0;
  let shownAt = 0;
  return {
    step: (count) => {
      done += count;
      const now = performance.now();
      if (now - shownAt < MIN_PAUSE_MS && done < total) return;
      shownAt = now;
      process.stderr.write(`${CLEAR_LINE}${done} of ${total} files`);
    },
    clear: () => void process.stderr.write(CLEAR_LINE),
  };
}

export const noProgress: Progress = { step: () => {}, clear: () => {} };
