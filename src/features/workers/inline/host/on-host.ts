/** The option `threads: 0`, and HEDDLE_THREADS=0: the options of a pool whose tasks run on the host from the start. */
import type { Given, OptionsRuntime } from "../../../../api/options/resolved-options.ts";
import { Set } from "../../../../builtins.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { checkUnavailable } from "./inline-options.ts";
import { isRecord, ownOf } from "../../../../option-checks.ts";

/** Options of the number of workers, which the environment overrides without a word. */
const OF_NUMBER = ["minThreads", "maxThreads", "budget"] as const;
/** Options that only a thread or process of its own can fulfil, and the values that ask for nothing. */
const OF_WORKERS = [
  ["workers", "threads"],
  ["process", undefined],
  ["resourceLimits", undefined],
  ["maxWorkerBytes", Infinity],
  ["output", "inherit"],
] as const;
/** The same, of `worker`. */
const OF_STARTS = ["env", "argv", "execArgv"] as const;

/** What has been left out, for the environment: one warning of each is enough. */
const reported = new Set<string>();

/**
 * The options of such a pool. What it cannot have is refused if the program says `threads: 0`. If only the environment does, it is left out
 * with a warning, so that programs written for threads run; but not `permission`, on which a program may rely.
 */
export function withoutThreads(
  given: Given,
  isForced: boolean,
  { warn }: OptionsRuntime,
): Given {
  const { permission, worker, onUnavailable } = given;
  const source = isForced ? "HEDDLE_THREADS=0" : "threads: 0";
  if (permission !== undefined && permission !== "off") {
    throw new InvalidArgumentError(
      `${source} cannot be combined with permission, which limits threads but not the host.`,
    );
  }
  const number = OF_NUMBER.filter((name) => given[name] !== undefined);
  const dropped: string[] = OF_WORKERS
    .filter(([name, none]) => given[name] !== undefined && given[name] !== none)
    .map(([name]) => name);
  if (onUnavailable !== undefined) checkUnavailable(onUnavailable, undefined);
  const to: Record<string, unknown> = ownOf({ ...given, threads: 1, onUnavailable: "host" });
  for (const name of [...number, ...dropped]) to[name] = undefined;
  if (isRecord(worker)) {
    const own: Record<string, unknown> = to["worker"] = ownOf(worker);
    for (const name of OF_STARTS) {
      if (own[name] === undefined) continue;
      dropped.push(`worker.${name}`);
      own[name] = undefined;
    }
  }
  const refused = [...(isForced ? [] : number), ...dropped];
  if (refused.length === 0) return to;
  const names = refused.join(", ");
  if (!isForced) {
    throw new InvalidArgumentError(
      `threads: 0 cannot be combined with ${names}: the tasks run on the host, in no thread of their own.`,
    );
  }
  if (!reported.has(names)) {
    reported.add(names);
    warn?.(`heddle: HEDDLE_THREADS=0: the tasks of a pool run on the host, without ${names}`);
  }
  return to;
}
