/** Processor time that this process and this thread have used. */
import { existsSync, readFileSync } from "node:fs";
import { spinFor, US_PER_MS } from "./clock.ts";

interface Usage {
  readonly user: number;
  readonly system: number;
}

const toMs = ({ user, system }: Usage): number => (user + system) / US_PER_MS;

/** Milliseconds of all threads of the process, in user code and in the kernel. */
export const processCpuMs = (): number => toMs(process.cpuUsage());

/**
 * Linux's account of the calling thread: nanoseconds on a core, up to the last tick or switch. One
 * runtime's `threadCpuUsage` counts in steps of 10 ms instead.
 */
const SCHEDSTAT = "/proc/thread-self/schedstat";
const NS_PER_MS = 1e6;
const hasSchedstat = existsSync(SCHEDSTAT);

/** Milliseconds of the calling thread alone, in user code and in the kernel. */
export function threadCpuMs(): number {
  if (hasSchedstat) return Number(readFileSync(SCHEDSTAT, "utf8").split(" ")[0]) / NS_PER_MS;
  return toMs((process as unknown as { threadCpuUsage(): Usage }).threadCpuUsage());
}

const CHECK_MS = 40;

/** Throws unless `threadCpuMs` counts what this thread computes. */
export function checkThreadCpu(): void {
  const before = threadCpuMs();
  spinFor(CHECK_MS * US_PER_MS);
  const used = threadCpuMs() - before;
  // Other processes may take half of the core, clocks may be coarse.
  if (used < CHECK_MS * 0.5 || used > CHECK_MS * 1.5) {
    throw new Error(`${CHECK_MS} ms of computing count as ${used.toFixed(1)} ms of this thread`);
  }
}
