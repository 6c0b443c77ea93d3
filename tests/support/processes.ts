/** Processes that tests start. They end with the process that started them, however that ends. */
import { type ChildProcess, spawn } from "node:child_process";

export interface Launched {
  readonly pid: number;
  /** Resolves when it is certain that it ends with this process. */
  readonly guarded: Promise<void>;
  /** Both streams, so far. */
  readonly output: () => string;
  /** Calls back with the whole output whenever there is more. */
  onOutput(listener: (output: string) => void): void;
  /** How it ended. Rejects if it could not be started. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when all of its output has arrived as well; processes that it has started may hold that up. */
  readonly closed: Promise<unknown>;
  send(signal: NodeJS.Signals): void;
  /** Sends a signal and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

export interface LaunchOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Gets `+ PID` and `- PID` for processes that have started and ended, and answers each by a line. Its input ends with the
 * process that writes to it, also by SIGKILL: then it kills those that are left.
 */
const GUARD = `
trap '' INT TERM HUP
pids=''
while read -r sign pid; do
  left=''
  for each in $pids; do [ "$each" = "$pid" ] || left="$left $each"; done
  pids=$left
  [ "$sign" = + ] && pids="$pids $pid"
  echo
done
[ -z "$pids" ] || kill -9 $pids
`;

let guard: ChildProcess | undefined;
const unanswered: (() => void)[] = [];

function tellGuard(sign: "+" | "-", pid: number): Promise<void> {
  if (guard === undefined) {
    guard = spawn("sh", ["-c", GUARD], { stdio: ["pipe", "pipe", "ignore"], detached: true });
    guard.stdout!.on("data", (lines: Uint8Array) => {
      for (const resolve of unanswered.splice(0, lines.length)) resolve();
    });
    guard.unref();
    for (const stream of [guard.stdin, guard.stdout]) {
      (stream as unknown as { unref?: () => void }).unref?.();
    }
  }
  guard.stdin!.write(`${sign} ${pid}\n`);
  return new Promise((resolve) => unanswered.push(resolve));
}

/** Starts a process. */
export function launch(
  [file = "", ...args]: readonly string[],
  { cwd, env = {} }: LaunchOptions = {},
): Launched {
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const pid = child.pid ?? -1;
  const guarded = pid > 0 ? tellGuard("+", pid) : Promise.resolve();
  let output = "";
  let isOver = pid < 0;
  const listeners = new Set<(output: string) => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += String(chunk);
      for (const listener of listeners) listener(output);
    });
  }
  const exited = new Promise<Awaited<Launched["exited"]>>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      isOver = true;
      void tellGuard("-", pid);
      resolve({ code, signal });
    });
  });
  exited.catch(() => {});
  const closed = new Promise((resolve) => child.on("close", resolve));
  const send = (signal: NodeJS.Signals): void => {
    // Not by `child.kill`: on Deno it sends only one signal, and says then that the process has ended.
    if (!isOver) process.kill(pid, signal);
  };
  return {
    pid,
    guarded,
    output: () => output,
    onOutput: (listener) => void listeners.add(listener),
    exited,
    closed,
    send,
    kill: async (signal = "SIGKILL") => {
      send(signal);
      await exited;
    },
  };
}
