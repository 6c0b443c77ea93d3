/** The processes of `concurrency`: one for each table and number of tasks, which starts all contenders in turn. */
import { execFileSync } from "node:child_process";
import os from "node:os";
import {
  COMPUTING,
  COMPUTING_TASKS,
  type ConcurrencyTable,
  GO,
  heddleWith,
  PLAIN,
  PYTHON,
  QUICK_COMPUTING_TASKS,
  QUICK_TASK_COUNTS,
  TASK_COUNTS,
  THREADS,
  WAITING,
} from "../scenarios/concurrency-cases.ts";
import type { Choices, Contender } from "./scenario.ts";

const SCRIPTS = [heddleWith(os.availableParallelism()), PLAIN, THREADS];

const process = (table: ConcurrencyTable, tasks: number, { delayMs }: Choices): Contender => ({
  name: `${table}, ${tasks} tasks`,
  variantOf: [...SCRIPTS, GO, PYTHON].join(", "),
  args: ["--contender", table, "--variant", String(tasks), "--delay-ms", String(delayMs)],
});

export function concurrencyContenders(choices: Choices): readonly Contender[] {
  const { isQuick } = choices;
  return [
    ...(isQuick ? QUICK_TASK_COUNTS : TASK_COUNTS).map((tasks) => process(WAITING, tasks, choices)),
    process(COMPUTING, isQuick ? QUICK_COMPUTING_TASKS : COMPUTING_TASKS, choices),
  ];
}

/** What a tool says about its version; nothing where it does not run. */
function versionOf(name: string, command: readonly string[]): Record<string, string> {
  const [file = "", ...args] = command;
  try {
    const text = execFileSync(file, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [version] = /\d+(\.\d+)+/.exec(text) ?? [];
    return version === undefined ? {} : { [name]: version };
  } catch {
    return {};
  }
}

/** Versions of Go and Python where they are measured. */
export const concurrencyVersions = (runtime: string): Readonly<Record<string, string>> =>
  runtime === "native"
    ? {
      ...versionOf("Go", ["go", "version"]),
      ...versionOf("Python", ["python3", "--version"]),
    }
    : {};
