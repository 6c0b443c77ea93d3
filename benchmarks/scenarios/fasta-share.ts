/**
 * A module of tasks: a part of fasta, and how much of a core the worker has used since its first part.
 *
 * The system brings a thread's account up to date when the thread leaves its core or a timer ticks. So the worker
 * sleeps for a moment before it reads the account; that time does not count.
 */
import type { SharedVector, WaitGroup } from "../../dist/shared.js";
import { workerInfo } from "../../dist/task.js";
import { threadCpuMs } from "../harness/cpu.ts";

type Fill = (
  vector: SharedVector<"u8">,
  group: WaitGroup,
  n: number,
  part: number,
  parts: number,
) => void;

/** Plain JavaScript without types. It imports `heddle/shared`. */
const program = new URL("../programs/heddle/fasta.js", import.meta.url);
const { fill } = await import(program.href) as { readonly fill: Fill };

/** What a worker has used since its first part, in milliseconds. */
export interface Share {
  readonly worker: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

const NAP_MS = 0.2;
const signal = new Int32Array(new SharedArrayBuffer(4));

let startCpuMs: number | undefined;
let startMs = 0;
let sleptMs = 0;

/** The thread's account, up to date. */
function readCpuMs(): number {
  const before = performance.now();
  Atomics.wait(signal, 0, 0, NAP_MS);
  const cpuMs = threadCpuMs();
  sleptMs += performance.now() - before;
  return cpuMs;
}

export function fillAndMeasure(
  vector: SharedVector<"u8">,
  group: WaitGroup,
  n: number,
  part: number,
  parts: number,
): Share {
  if (startCpuMs === undefined) {
    startCpuMs = readCpuMs();
    startMs = performance.now();
    sleptMs = 0;
  }
  fill(vector, group, n, part, parts);
  const wallMs = performance.now() - startMs - sleptMs;
  return { worker: workerInfo()!.id, cpuMs: readCpuMs() - startCpuMs, wallMs };
}
