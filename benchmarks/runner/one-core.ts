/** Processes all of whose threads share a core: taskset (util-linux) starts them so. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Contender } from "./scenario.ts";

let prefix: readonly string[] | Error | undefined;

/** The command that comes before; an error where there is none. */
function findPrefix(): readonly string[] | Error {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const [, firstCore = "0"] = /^Cpus_allowed_list:\s*(\d+)/m.exec(status) ?? [];
    const found = ["taskset", "--cpu-list", firstCore];
    execFileSync(found[0]!, [...found.slice(1), "true"], { stdio: "ignore" });
    return found;
  } catch (error) {
    return error as Error;
  }
}

/** The same contender on one core, or left out with the reason. */
export function onOneCore(contender: Contender): Contender {
  prefix ??= findPrefix();
  return prefix instanceof Error
    ? { ...contender, left: `taskset does not run here: ${prefix.message}` }
    : { ...contender, prefix };
}
