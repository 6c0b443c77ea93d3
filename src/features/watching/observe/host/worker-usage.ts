/** `pool.usage()`: what each worker uses, seen from outside. */
import { Promise } from "../../../../builtins.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";

/** What a worker uses. True also while it runs an endless loop. */
export interface WorkerUsage {
  /** Number of the worker within its pool. */
  readonly id: number;
  /** Name of its thread or process. */
  readonly name: string;
  /** Bytes of the heap and the buffers of a thread, garbage included. Undefined: it is a process, or a thread of Deno, Bun or a browser. */
  readonly heapBytes: number | undefined;
  /** Bytes of memory that a process has in use. Undefined: it is a thread, the system is not Linux, or Deno has not all rights. */
  readonly residentBytes: number | undefined;
  /** Processor time since its start, in milliseconds. Undefined where neither of the above is known. */
  readonly processorMs: number | undefined;
}

const UNKNOWN = { heapBytes: undefined, residentBytes: undefined, processorMs: undefined };

export async function readUsage({ spec, supervisor }: PoolParts): Promise<WorkerUsage[]> {
  return await Promise.all(Array.from(supervisor.threads, async ({ id, read }) => ({
    id,
    name: `${spec.options.workerOptions.name}-${id}`,
    ...UNKNOWN,
    ...await read?.(),
  })));
}
