/** `shutdownOnSignals`: an end of the program that lets calls finish, and one that does not wait. */
import { onSignals, type SignalName, SIGNALS } from "../../runtimes/node-api/process/signals.ts";
import { checkShutdown } from "../options/options.ts";
import type { ShutdownOptions } from "../options/pool-options.ts";
import { checkKeys, invalid, isRecord, ownOf, show } from "../../option-checks.ts";
import { Promise } from "../../builtins.ts";

export type { SignalName };

/** What is shut down: a pool. */
export interface ShutsDown {
  /** As `pool.shutdown`. */
  shutdown(options?: ShutdownOptions): Promise<void>;
}

/** Options of {@link shutdownOnSignals}. */
export interface SignalOptions {
  /**
   * The signals.
   *
   * @default ["SIGINT", "SIGTERM"]
   */
  readonly signals?: readonly SignalName[];
  /**
   * How long calls in flight may take, in milliseconds, as of `pool.shutdown`.
   *
   * @default 5000
   */
  readonly timeoutMs?: number;
  /**
   * What happens to calls that no worker has begun, as in `pool.shutdown`. With "reject" the program ends as soon as the running calls
   * have ended, which suits a command-line program.
   *
   * @default "run"
   */
  readonly queued?: "run" | "reject";
  /**
   * Called first, and awaited: closes servers, so that no more calls come.
   *
   * @default none
   */
  readonly before?: () => unknown;
}

const DEFAULT_MS = 5000;

/**
 * Ends the program well: at the first SIGINT (Ctrl-C) or SIGTERM the pools are shut down, their calls in flight first; then the process
 * ends with the exit code of the signal (130, 143), unless the program listens for it as well. A second signal ends the process at once.
 * Returns a function that stops listening. Throws InvalidArgumentError.
 *
 * @example
 * ```ts
 * const pool = createPool()<typeof import("./tasks.ts")>(url);
 * shutdownOnSignals(pool, { before: () => server.close() });
 * ```
 */
export function shutdownOnSignals(
  pools: ShutsDown | readonly ShutsDown[],
  options: SignalOptions = {},
): () => void {
  const all = (Array.isArray(pools) ? [...pools] : [pools]) as ShutsDown[];
  for (const pool of all as readonly unknown[]) {
    if (typeof (pool as Partial<ShutsDown> | null)?.shutdown !== "function") {
      throw invalid("shutdownOnSignals()", "a pool or a list of pools", show(pool));
    }
  }
  const { signals, before, ...shutdown } = checkOptions(options);
  return onSignals(signals, async () => {
    try {
      await before?.();
    } finally {
      await Promise.all(all.map((pool) => pool.shutdown(shutdown)));
    }
  });
}

type Checked = Required<Omit<SignalOptions, "before">> & Pick<SignalOptions, "before">;

function checkOptions(given: unknown): Checked {
  if (!isRecord(given)) throw invalid("shutdownOnSignals()", "options", show(given));
  checkKeys("shutdownOnSignals()", given, ["signals", "timeoutMs", "queued", "before"]);
  const { signals = ["SIGINT", "SIGTERM"], before, ...shutdown } = ownOf<SignalOptions>(given);
  const isKnown = Array.isArray(signals) &&
    signals.every((name) => Object.hasOwn(SIGNALS, name as string));
  if (!isKnown) {
    throw invalid("signals", `a list of ${Object.keys(SIGNALS).join(", ")}`, show(signals));
  }
  if (before !== undefined && typeof before !== "function") {
    throw invalid("before", "a function", show(before));
  }
  const { timeoutMs, isQueuedRun } = checkShutdown(shutdown, DEFAULT_MS);
  return {
    signals: signals as SignalName[],
    timeoutMs,
    queued: isQueuedRun ? "run" : "reject",
    ...(before !== undefined && { before: before as () => unknown }),
  };
}
