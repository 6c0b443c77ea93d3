/** As many requests as the server answers, by wrk, or by autocannon where wrk is missing. */
import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import type { LoadFigures } from "./figures.ts";
import { runLoad } from "./run-load.ts";
import { parseWrk } from "./wrk-output.ts";

export interface Saturation {
  readonly url: string;
  readonly connections: number;
  readonly threads: number;
  /** wrk takes whole seconds; autocannon too. */
  readonly seconds: number;
}

export type LoadTool = "wrk" | "autocannon";

export function findLoadTool(): LoadTool {
  try {
    // It prints its version, and ends with an error code nevertheless.
    execFileSync("wrk", ["--version"], { stdio: "ignore" });
    return "wrk";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "autocannon" : "wrk";
  }
}

export async function saturate(tool: LoadTool, saturation: Saturation): Promise<LoadFigures> {
  if (tool === "autocannon") return await runLoad("autocannon", saturation);
  const { url, connections, threads, seconds } = saturation;
  const { stdout } = await promisify(execFile)("wrk", [
    `--threads=${threads}`,
    `--connections=${connections}`,
    `--duration=${seconds}s`,
    "--latency",
    url,
  ]);
  return parseWrk(stdout);
}
