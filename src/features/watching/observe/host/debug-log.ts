/** The option `debug`: one line on stderr for each decision of the chosen topics. */
import { debugLine } from "../debug-line.ts";
import type { Runtime } from "../../../../runtimes/runtime.ts";

/** A topic of the option `debug`. About "callers" nothing is printed: their frames are in stacks, as with any topic. */
export type DebugTopic = "calls" | "workers" | "waits" | "callers";
export const DEBUG_TOPICS: readonly DebugTopic[] = ["calls", "workers", "waits", "callers"];

/** How a worker ended. */
interface WorkerEnd {
  readonly workerId: number;
  readonly reason: string;
  readonly exitCode: number | undefined;
  readonly callsLost: number;
  readonly replacedBy: number | undefined;
}

export class DebugLog {
  readonly calls: boolean;
  readonly workers: boolean;
  readonly waits: boolean;
  /** When the pool was created, on the shared clock. */
  readonly fromMs: number;
  readonly #runtime: Pick<Runtime, "originMs" | "now" | "printError">;
  readonly #pool: string;

  constructor(
    topics: readonly DebugTopic[],
    pool: string,
    runtime: Pick<Runtime, "originMs" | "now" | "printError">,
  ) {
    this.calls = topics.includes("calls");
    this.workers = topics.includes("workers");
    this.waits = topics.includes("waits");
    this.#pool = pool;
    this.#runtime = runtime;
    this.fromMs = runtime.originMs + runtime.now();
  }

  onWorkerStart(workerId: number): void {
    if (this.workers) this.print(`worker ${workerId} is ready`);
  }

  onWorkerExit({ workerId, reason, exitCode, callsLost, replacedBy }: WorkerEnd): void {
    if (!this.workers) return;
    const next = replacedBy === undefined ? "not replaced" : `replaced by worker ${replacedBy}`;
    this.print(
      `worker ${workerId} ended: ${reason} (exit code ${exitCode}, ${callsLost} calls lost, ${next})`,
    );
  }

  print(text: string): void {
    const { originMs, now, printError } = this.#runtime;
    try {
      printError(debugLine(this.#pool, originMs + now() - this.fromMs, text));
    } catch {
      // The program has replaced or closed its stderr: that must not reach calls.
    }
  }
}
