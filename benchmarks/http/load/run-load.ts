/** Runs a load in a process of its own, always on the project's Node: all servers meet the same client. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const NODE = path("../../../node_modules/.bin/node");

/** What the load resolved with. Rejects with what it threw. */
export function runLoad<Result>(name: string, options: object): Promise<Result> {
  const args = [path("./main.ts"), name, JSON.stringify(options)];
  const child = spawn(NODE, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => stdout += String(chunk));
  child.stderr.on("data", (chunk) => stderr += String(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(stdout) as Result);
      else reject(new Error(`load ${name} ended with code ${code}: ${reasonIn(stderr)}`));
    });
  });
}

/** The message of the error that ended the process. */
const reasonIn = (stderr: string): string =>
  /^(?:\w*Error(?: \[\w+\])?: .*)$/m.exec(stderr)?.[0] ?? stderr.trim().split("\n").at(-1) ?? "";
