/** What a result has to say about where and with what it was measured. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import type { ScenarioResult } from "./schema.ts";

const root = new URL("../../", import.meta.url);

const GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

export function describeMachine(): ScenarioResult["machine"] {
  return {
    cpu: os.cpus()[0]?.model ?? "unknown",
    cores: os.availableParallelism(),
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    kernel: `${os.type()} ${os.release()}`,
    ...(existsSync(GOVERNOR) ? { governor: readFileSync(GOVERNOR, "utf8").trim() } : {}),
  };
}

/**
 * Commit of the tree as it is when the run begins, with a mark if it has changes beside those that a run makes
 * itself; "unknown" outside a checkout.
 */
export const COMMIT: string = describeCommit();

function describeCommit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync("git", args, {
        cwd: root,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      })
        .trim();
    const changes = git("status", "--porcelain", "--", ".", ":!results", ":!graphs");
    return git("rev-parse", "--short", "HEAD") + (changes ? "+changes" : "");
  } catch {
    return "unknown";
  }
}

/** Version of an installed package. */
export function versionOf(name: string): string {
  const manifest = readFileSync(new URL(`node_modules/${name}/package.json`, root), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
