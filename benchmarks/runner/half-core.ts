/** Processes that get half a core: a control group of their own, of either version, where this user may make one. */
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Contender } from "./scenario.ts";

/** Microseconds of processor time of each period. */
const QUOTA = "50000";
const PERIOD = "100000";

interface Version {
  readonly name: string;
  /** Where groups with processor time are made. */
  readonly folder: string;
  /** Files of a group and what goes into them. */
  readonly limits: Readonly<Record<string, string>>;
}

export const VERSIONS: readonly Version[] = [
  {
    name: "cgroup v2",
    folder: "/sys/fs/cgroup",
    limits: { "cpu.max": `${QUOTA} ${PERIOD}` },
  },
  {
    name: "cgroup v1",
    folder: "/sys/fs/cgroup/cpu",
    limits: { "cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": QUOTA },
  },
];

/** Puts the shell into the group, and then becomes the command that follows. */
const ENTER = 'echo $$ > "$0" && exec "$@"';

/** Makes the group; it is removed when this process ends. Throws where that is not permitted. */
function makeGroup({ folder, limits }: Version): string {
  const group = path.join(folder, `heddle-half-core-${process.pid}`);
  mkdirSync(group);
  try {
    for (const [file, value] of Object.entries(limits)) {
      // Opened as it is: a group without processor time has no such file.
      writeFileSync(path.join(group, file), value, { flag: "r+" });
    }
  } catch (error) {
    rmdirSync(group);
    throw error;
  }
  process.on("exit", () => remove(group));
  return group;
}

function remove(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // A process in it has not quite ended: an empty group costs nothing.
  }
}

/** The command that comes before, of the first version that permits it; an error with the reasons of all. */
export function findPrefix(versions: readonly Version[]): readonly string[] | Error {
  const reasons: string[] = [];
  for (const version of versions) {
    try {
      return ["sh", "-c", ENTER, path.join(makeGroup(version), "cgroup.procs")];
    } catch (error) {
      reasons.push(`${version.name}: ${(error as Error).message}`);
    }
  }
  return new Error(reasons.join("; "));
}

let prefix: readonly string[] | Error | undefined;

/** The same contender with half a core, or left out with the reasons. */
export function onHalfCore(contender: Contender): Contender {
  prefix ??= findPrefix(VERSIONS);
  return prefix instanceof Error
    ? { ...contender, left: `this machine permits no group with half a core: ${prefix.message}` }
    : { ...contender, prefix };
}
