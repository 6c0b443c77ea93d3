/**
 * Processes that a command has started and left running, for `npm test`: each is found by an environment variable, which it has
 * inherited from the command. On Linux and macOS.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Whose value names the command. */
export const RUN_VARIABLE = "HEDDLE_TEST_RUN";

export interface LeftOver {
  readonly pid: number;
  readonly command: string;
}

/** A process that is ending needs some time for that. */
const MAX_WAIT_MS = 10_000;
const POLL_MS = 100;

/** The processes whose RUN_VARIABLE has this value. */
export function findLeftOver(run: string): LeftOver[] {
  const entry = `${RUN_VARIABLE}=${run}`;
  const all = process.platform === "linux" ? readProc(entry) : readPs(entry);
  return all.filter(({ pid }) => pid !== process.pid);
}

/** The same, of those that do not end within some seconds. */
export async function waitForLeftOver(run: string): Promise<LeftOver[]> {
  for (let waited = 0;; waited += POLL_MS) {
    const left = findLeftOver(run);
    if (left.length === 0 || waited >= MAX_WAIT_MS) return left;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function readProc(entry: string): LeftOver[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const environment = readFileSync(`/proc/${name}/environ`, "latin1").split("\0");
      if (!environment.includes(entry)) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return [{ pid: Number(name), command }];
    } catch {
      return []; // it has ended, or is of another user
    }
  });
}

function readPs(entry: string): LeftOver[] {
  const { stdout } = spawnSync("ps", ["eww", "-axo", "pid=,command="], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  return (stdout ?? "").split("\n").filter((line) => line.split(" ").includes(entry))
    .map((line) => {
      const [, pid = "", command = ""] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
      return { pid: Number(pid), command: command.slice(0, 200) };
    });
}
