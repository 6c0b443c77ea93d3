/** What a thread of Node uses, as its host sees it. Loaded when that is asked for. */
import type { Worker } from "node:worker_threads";
import { Promise } from "../../../builtins.ts";
import { timers } from "../builtins.ts";
import type { WorkerReading } from "../../worker-handle.ts";

const { setTimeout, clearTimeout } = timers;

/** How long a thread may take to answer: one in a native call does not. */
const READ_MS = 1000;

/** Node answers by interrupting the thread, so that a loop tells as well. The timer keeps the process running meanwhile. */
export async function readThread(worker: Worker): Promise<WorkerReading | undefined> {
  const { promise: isLate, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, READ_MS);
  try {
    // Node 22 has them from 22.16 and 22.19 on.
    const { getHeapStatistics, cpuUsage } = worker as Partial<Worker>;
    const answers = Promise.all([getHeapStatistics?.call(worker), cpuUsage?.call(worker)]);
    const [heap, processor] = await Promise.race([answers, isLate]) ?? [];
    return {
      heapBytes: heap && heap.used_heap_size + heap.external_memory,
      residentBytes: undefined,
      processorMs: processor && (processor.user + processor.system) / 1000,
    };
  } catch {
    return undefined; // it is gone
  } finally {
    clearTimeout(timer);
  }
}
