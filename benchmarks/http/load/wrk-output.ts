/** Reads what `wrk --latency` prints. */
import type { LoadFigures } from "./figures.ts";

const MS_OF: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** A time as wrk writes it, such as `1.23ms`, in milliseconds. */
export function parseTime(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(us|ms|s|m|h)$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`not a time of wrk: ${text}`);
  return Number(number) * MS_OF[unit!]!;
}

function find(output: string, pattern: RegExp): string {
  const found = pattern.exec(output)?.[1];
  if (found === undefined) throw new Error(`wrk printed no ${pattern.source}:\n${output}`);
  return found;
}

/** Throws if a request failed: figures of the others would look better than the server is. */
export function parseWrk(output: string): LoadFigures {
  const failed = /^\s*(?:Socket errors|Non-2xx or 3xx responses):.*$/m.exec(output)?.[0];
  if (failed !== undefined) throw new Error(`wrk: ${failed.trim()}`);
  return {
    perSecond: Number(find(output, /^Requests\/sec:\s+(\d+(?:\.\d+)?)$/m)),
    meanMs: parseTime(find(output, /^\s+Latency\s+(\d\S*)/m)),
    p50Ms: parseTime(find(output, /^\s+50%\s+(\S+)$/m)),
    p99Ms: parseTime(find(output, /^\s+99%\s+(\S+)$/m)),
    count: Number(find(output, /^\s+(\d+) requests in /m)),
  };
}
