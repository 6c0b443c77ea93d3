/** How workers end: by the host, which picks the time, or by themselves, at a place that the host picks. */
import { upTo } from "../support/random.ts";
import { thisThread } from "../../src/shared/threads/this-thread.ts";
import { capabilities } from "../support/runtime.ts";

/** What ends a worker. "limit": `hardTimeoutMs`; "abort": an aborted call with `killAfterMs: 0`; the others are its own doing. */
export type End = "none" | "limit" | "abort" | "exit" | "throw" | "memory";

/** Where a worker ends by itself, or loops until the host ends it: between operations, or inside one. */
export const PLACES = [
  "between",
  "update",
  "getView",
  "iteration",
  "encoding",
  "mutex",
  "rwLock",
  "select",
] as const;
export type Place = typeof PLACES[number];

/** How one call ends. Sent to the worker that runs it. */
export interface Plan {
  readonly end: End;
  /** For "abort": when. For "none": how long the task runs. */
  readonly ms: number;
  readonly place: Place;
  /** The operation at whose place the worker ends. */
  readonly at: number;
}

/** Heap of workers in rounds in which they exhaust it, and the time that takes at most. */
export const HEAP_MB = 32;
export const EXHAUSTED_MS = 2000;

export function randomPlan(random: () => number, exhausts: boolean): Plan {
  const ends: readonly End[] = exhausts
    ? ["none", "exit", "abort", "memory", "memory"]
    : ["none", "limit", "limit", "abort", "exit", "throw"];
  const end = ends[upTo(random, ends.length - 1)]!;
  return {
    end,
    ms: upTo(random, end === "none" ? 20 : 150),
    place: PLACES[upTo(random, PLACES.length - 1)]!,
    at: 1 + upTo(random, 400),
  };
}

/** Whether the workers of this round exhaust their memory. */
export function exhaustsMemory(random: () => number): boolean {
  return random() < 0.25 && capabilities.resourceLimits;
}

/** Ends this worker as planned. "none" and "throw" return: the second ends it in its next turn. */
export function endHere({ end }: Plan): void {
  if (end === "none") return;
  if (end === "exit") process.exit(3);
  if (end === "throw") {
    setTimeout(() => {
      throw new Error("planned");
    });
    return;
  }
  if (end === "memory") { for (let last = {};;) last = { last, text: `${Math.random()}` }; }
  // Until it is killed, or has noticed that it was where the runtime cannot do that.
  for (;;) if (!capabilities.stopsLoops) thisThread().checkLife();
}

const EXPECTED = new Set(["HEDDLE_TIMEOUT", "HEDDLE_WORKER_LOST", "HEDDLE_WORKER_START"]);
export const ABORTED = "aborted by chaos";

/** Whether a call may end with this. */
export function isOfDeath(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return EXPECTED.has(code ?? "") || message === ABORTED;
}

/** Runs `call` with a signal that is aborted when the plan says so. */
export async function withAbort<Result>(
  { end, ms }: Plan,
  call: (signal: AbortSignal) => PromiseLike<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const timer = end === "abort"
    ? setTimeout(() => controller.abort(new Error(ABORTED)), ms)
    : undefined;
  try {
    return await call(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Collects garbage, if the runtime was started in a way that lets a program do so. */
export function collectGarbage(): boolean {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(sync: boolean): void } };
  gc?.();
  Bun?.gc(true);
  return gc !== undefined || Bun !== undefined;
}
