/** The measured programs: how each is started, and what it prints. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { NODE, runProcess } from "../harness/processes.ts";
import { GO, heddleWith, PLAIN, PYTHON, THREADS } from "../scenarios/concurrency-cases.ts";

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What a program prints. */
export interface Figures {
  /** Until its tasks could start: the start of a pool. */
  readonly startMs: number;
  readonly wallMs: number;
  /** Of all threads, while the tasks ran. */
  readonly cpuMs: number;
  readonly peakBeforeKiB: number;
  readonly peakKiB: number;
  /** Requests with the right response. */
  readonly right: number;
  /** Of a request that failed. */
  readonly error?: string | null;
}

export interface Program {
  readonly contender: string;
  /** The argument of the program follows. */
  readonly command: readonly string[];
  /** Passed in that argument. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Takes so long that it has one turn. */
  readonly isSlow?: boolean;
  readonly isHeddle?: boolean;
  /** Why it cannot run. */
  readonly left?: string;
}

/** The contenders in JavaScript; `runtime` is the command that runs a module. */
export function scriptPrograms(runtime: readonly string[]): readonly Program[] {
  const threads = os.availableParallelism();
  const command = [...runtime, fileOf("program.mjs")];
  return [
    {
      contender: heddleWith(threads),
      command,
      options: { contender: "heddle", threads },
      isHeddle: true,
    },
    { contender: PLAIN, command, options: { contender: PLAIN } },
    { contender: THREADS, command, options: { contender: THREADS }, isSlow: true },
  ];
}

/** Why a tool that `find` runs is not there. */
function reasonWithout(name: string, find: () => unknown): { left?: string } {
  try {
    find();
    return {};
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    return { left: `${name} does not run here: ${reason}` };
  }
}

/** Programs in other languages, and a function that deletes what was built. */
export function nativePrograms(): { programs: readonly Program[]; remove(): void } {
  const folder = mkdtempSync(path.join(os.tmpdir(), "heddle-concurrency-"));
  const built = path.join(folder, "client");
  const go = reasonWithout(
    "go",
    () =>
      execFileSync("go", ["build", "-o", built, fileOf("client.go")], {
        cwd: folder,
        // Builds without a C compiler, and downloads no other version of Go.
        env: { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local" },
        stdio: ["ignore", "ignore", "pipe"],
      }),
  );
  const python = reasonWithout(
    "python3",
    () => execFileSync("python3", ["--version"], { stdio: ["ignore", "ignore", "pipe"] }),
  );
  return {
    programs: [
      { contender: GO, command: [built], ...go },
      { contender: PYTHON, command: ["python3", fileOf("client.py")], ...python },
    ],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The first lines of standard error. */
const reasonIn = (stderr: string): string => stderr.trim().split("\n").slice(0, 3).join("; ");

/** Runs a program to its end; resolves with what it prints. */
export const runProgram = <Printed>(
  { command, options }: Program,
  argument: Readonly<Record<string, unknown>>,
  timeoutMs: number,
): Promise<Printed> =>
  runProcess([...command, JSON.stringify({ ...options, ...argument })], { timeoutMs, reasonIn });

export interface Server {
  readonly origin: string;
  close(): void;
}

/** Starts the server in a process of its own; it ends by itself when this process does. */
export function startServer(delayMs: number): Promise<Server> {
  const child = spawn(NODE, [fileOf("server.mjs"), String(delayMs)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", () => reject(new Error("the server did not start")));
    child.stdout.once("data", (chunk) =>
      resolve({
        origin: `http://127.0.0.1:${String(chunk).trim()}`,
        close: () => child.stdin.end(),
      }));
  });
}
