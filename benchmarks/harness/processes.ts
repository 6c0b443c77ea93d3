/** Processes that print what they have found as a last line of JSON. */
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The project's own Node, whatever runtime is measured. */
export const NODE: string = `${root}node_modules/.bin/node`;

export interface ProcessOptions {
  /** One that takes longer is killed. */
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Says what failed, from standard error; its last lines otherwise. */
  readonly reasonIn?: (stderr: string) => string;
}

const REASON_LINES = 8;
const lastLines = (stderr: string): string =>
  stderr.trim().split("\n").slice(-REASON_LINES).join("\n");

/** Runs a program to its end in the project's folder; resolves with what it prints. */
export function runProcess<Printed>(
  [file = "", ...args]: readonly string[],
  { timeoutMs, env = {}, reasonIn = lastLines }: ProcessOptions = {},
): Promise<Printed> {
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
  let isLate = false;
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => {
    isLate = true;
    kill();
  }, timeoutMs);
  process.on("exit", kill);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      process.off("exit", kill);
      const line = stdout.trim().split("\n").at(-1) ?? "";
      if (isLate) reject(new Error(`not finished after ${timeoutMs! / 1000} s`));
      else if (code === 0 && /^[[{]/.test(line)) resolve(JSON.parse(line) as Printed);
      else reject(new Error(`ended with ${signal ?? `code ${code}`}\n${reasonIn(stderr)}`));
    });
  });
}
