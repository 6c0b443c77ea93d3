/** Why a worker has ended, from what its runtime tells. */
import type { Death } from "../../runtimes/processes/types.ts";

/** The `code` of Node's error for a thread that has reached its `resourceLimits`. */
const THREAD_OUT_OF_MEMORY = "ERR_WORKER_OUT_OF_MEMORY";

/** Lines that V8 writes of its own stack. */
const NATIVE = /^\s*\d+: 0x|^-{3,} Native stack trace -{3,}$/;
const FATAL = /^(?:<--- .*--->|FATAL ERROR|#\s*Fatal|fatal error|panic)/i;
const OUT_OF_MEMORY = /heap out of memory|allocation failed|out of memory/i;

/** Lines that are kept. */
const KEPT_LINES = 20;

interface Found {
  /** A sentence without its end. */
  readonly reason: string;
  /** Of a process. */
  readonly processId?: number | undefined;
  readonly signal: string | undefined;
  readonly outOfMemory: boolean;
  readonly stderr: string | undefined;
}

/** A thread that has ended by itself. */
export const EXITED: Found = {
  reason: "it exited",
  signal: undefined,
  outOfMemory: false,
  stderr: undefined,
};

/** `cause`: the error that ended it. */
export function explainDeath(death: Death | undefined, cause: unknown): Found {
  const { processId, signal } = death ?? EXITED; // a thread has neither
  const lines = linesOf(death?.stderr ?? "");
  const { code } = Object(cause) as { readonly code?: unknown };
  const outOfMemory = code === THREAD_OUT_OF_MEMORY ||
    lines.some((line) => FATAL.test(line) && OUT_OF_MEMORY.test(line));
  const reason = outOfMemory
    ? "it ran out of memory"
    : death?.failure !== undefined
    ? death.failure
    : signal === undefined
    ? "it exited"
    : `it was ended by ${signal}`;
  const stderr = lines.length > 0 ? lines.join("\n") : undefined;
  return { reason, processId, signal, outOfMemory, stderr };
}

/** The last lines, fatal ones first. */
function linesOf(text: string): readonly string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !NATIVE.test(line));
  const fatal = lines.filter((line) => FATAL.test(line));
  return [...fatal, ...lines.filter((line) => !FATAL.test(line)).slice(-KEPT_LINES)];
}
