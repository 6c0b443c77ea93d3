/** Runs one process of a scenario and reads its line. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { RoundLine } from "../harness/schema.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Lines of standard error that go into the reason of a failure. */
const REASON_LINES = 8;

export function runChild(
  command: readonly string[],
  timeoutMs: number,
  env: Readonly<Record<string, string>>,
): Promise<readonly RoundLine[]> {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => stdout += String(chunk));
  child.stderr.on("data", (chunk) => stderr += String(chunk));
  const kill = (): void => void child.kill("SIGKILL");
  const timer = setTimeout(kill, timeoutMs);
  process.on("exit", kill);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      process.off("exit", kill);
      const line = stdout.trim().split("\n").at(-1) ?? "";
      if (code !== 0 || !line.startsWith("[")) {
        const reason = stderr.trim().split("\n").slice(-REASON_LINES).join("\n");
        reject(new Error(`ended with ${signal ?? `code ${code}`}\n${reason}`));
      } else resolve(JSON.parse(line) as RoundLine[]);
    });
  });
}
