/** Starts servers as processes of their own, and stops them. */
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { HOST } from "./routes.ts";

export interface ServerProcess {
  readonly url: string;
  /** Resolves with the exit code; kills a process that does not end. */
  stop(): Promise<number | null>;
}

const MAIN = fileURLToPath(new URL("./servers/main.ts", import.meta.url));
/** `reusePort` is an unstable option of Deno's network functions. */
const DENO_FLAGS = ["run", "-A", "--quiet", "--no-lock", "--unstable-net"];
const STOP_TIMEOUT_MS = 10_000;

/** The command that runs `servers/main.ts` on this runtime. */
export function serverCommand(
  kind: string,
  options: Readonly<Record<string, number | string>>,
): string[] {
  const flags = "Deno" in globalThis ? DENO_FLAGS : [];
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  return [process.execPath, ...flags, MAIN, `--kind=${kind}`, ...args];
}

/** Resolves when it listens. */
export function startServer([file = "", ...args]: readonly string[]): Promise<ServerProcess> {
  const child = spawn(file, args, {
    stdio: ["pipe", "pipe", "pipe"],
    // Flags of the process that starts it are not the server's.
    env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1" },
  });
  let output = "";
  let errors = "";
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stderr.on("data", (chunk) => errors += String(chunk));
  const stop = (): Promise<number | null> => {
    const timer = setTimeout(() => void child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    child.stdin.end();
    return ended.finally(() => clearTimeout(timer));
  };
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.stdout.on("data", (chunk) => {
      output += String(chunk);
      const port = /^\{"port":(\d+)\}/m.exec(output)?.[1];
      if (port !== undefined) resolve({ url: `http://${HOST}:${port}`, stop });
    });
    void ended.then((code) => reject(new Error(`a server ended with code ${code}: ${errors}`)));
  });
}

/** What `use` resolves with, given the URL of a server that was started for it. */
export async function withServer<Result>(
  command: readonly string[],
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  const server = await startServer(command);
  try {
    return await use(server.url);
  } finally {
    await server.stop();
  }
}
