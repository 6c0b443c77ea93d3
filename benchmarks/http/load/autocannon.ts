/** The load by autocannon. */
import autocannon from "autocannon";
import type { LoadFigures } from "./figures.ts";
import type { Saturation } from "./saturate.ts";

export async function run({ url, connections, seconds }: Saturation): Promise<LoadFigures> {
  const result = await autocannon({ url, connections, duration: Math.ceil(seconds) });
  const failed = result.errors + result.timeouts + result.non2xx;
  if (failed > 0) throw new Error(`autocannon: ${failed} requests failed`);
  return {
    perSecond: result.requests.total / result.duration,
    // It counts whole milliseconds: most medians are 0.
    meanMs: result.latency.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    count: result.requests.total,
  };
}
