/** What the suite has to know about the runtime it runs on. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type RuntimeName = "node" | "deno" | "bun";

export const runtimeName: RuntimeName = "Deno" in globalThis
  ? "deno"
  : "Bun" in globalThis
  ? "bun"
  : "node";

const [major = 0] = process.versions.node.split(".").map(Number);

/** Differences between runtimes, in plain sight. Everything not listed holds everywhere. */
export const capabilities = {
  /** `using` and `await using` parse without a build step. */
  usingSyntax: runtimeName !== "node" || major >= 24,
  /** Modules can be imported from http: URLs. */
  remoteModules: runtimeName === "deno",
  /** A flag forbids making code from strings: V8's, which Deno passes on. */
  forbidsCode: runtimeName !== "bun",
  /** Bun ignores heap limits of workers; Deno leaves those that reach them in a microtask hanging. */
  resourceLimits: runtimeName === "node",
  /** A host can read the memory and the processor time of a thread. */
  readsThreads: runtimeName === "node",
  /** A thread that runs synchronous code can be stopped. On Deno `terminate()` returns and the thread goes on. */
  stopsLoops: runtimeName !== "deno",
  /** Threads can be denied something that their process may: Node's permission model alone. */
  permissions: runtimeName === "node",
  /** Reading the current folder as well, from Node 24 on. */
  deniesFolder: runtimeName === "node" && major >= 24,
  /** The network as well, from Node 25 on. */
  deniesNet: runtimeName === "node" && major >= 25,
  /** Threads take flags of the runtime of their own. */
  execArgv: runtimeName === "node",
  /** Uncaught exceptions of workers are printed by the runtime. */
  printsUncaught: runtimeName === "deno",
  /** The place of a syntax error is known if a module imports the one that has it. */
  findsNestedMistakes: runtimeName !== "node" || major >= 26,
  /** A function that ends in a tail call is not on the stack. */
  hidesTailCalls: runtimeName === "bun",
  /** A port hears that the other end of its channel was closed in another thread. */
  tellsOfClosedPorts: runtimeName !== "deno",
  /**
   * A certificate that the server refuses raises no uncaught error. Deno raises one in the handshake, between two listeners of
   * the NATS client.
   */
  hearsTlsErrors: runtimeName !== "deno",
  /** Its own `structuredClone` takes no time for each hole of an array; on Bun 15 ns, a minute for 4e9. */
  clonesHugeHoles: runtimeName !== "bun",
  /** Marks of `markAsUncloneable` can be seen. On Bun the module that has it would take each thread 2.3 ms to load. */
  seesMarks: runtimeName !== "bun",
  /** What threads print by `console` can be captured by the program. On Deno it goes straight to the process's descriptors. */
  capturesConsole: runtimeName !== "deno",
  /** A program can read the conditions of its command line. */
  tellsConditions: runtimeName !== "deno",
  /** Web streams can be transferred to a thread. */
  movesStreams: runtimeName !== "bun",
  /** Hooks of `require` run, of those that flags of a thread preload: Deno and Bun have no such flags. */
  requireHooks: runtimeName === "node",
  /** `require.main` can be given to a thread whose entry is an ES module. On Deno it is another object, on Bun undefined. */
  setsRequireMain: runtimeName === "node",
  /** The program decides where compiled code is kept. Deno and Bun keep it by themselves. */
  compileCache: runtimeName === "node",
  /** Which functions have run can be asked in a thread (V8's inspector, as Node has it). */
  countsFunctions: runtimeName === "node",
} as const;

export interface Finished {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a script of `tests/fixtures/scripts` on this runtime. */
export function runScript(
  name: string,
  engineFlags: readonly string[] = [],
): Promise<Finished> {
  const file = fileURLToPath(new URL(`../fixtures/scripts/${name}`, import.meta.url));
  return runFile(file, engineFlags);
}

/** The command that runs a file on this runtime. */
export function commandOf(file: string, engineFlags: readonly string[] = []): readonly string[] {
  const flags = runtimeName === "deno"
    ? ["run", "-A", "--quiet", "--no-lock", ...engineFlags.map((flag) => `--v8-flags=${flag}`)]
    : engineFlags;
  return [process.execPath, ...flags, file];
}

/** Runs a file on this runtime. Kills it after `timeoutMs`. */
export function runFile(
  file: string,
  engineFlags: readonly string[] = [],
  timeoutMs = 120_000,
): Promise<Finished> {
  const [command, ...args] = commandOf(file, engineFlags);
  const child = spawn(command!, args, {
    stdio: ["ignore", "pipe", "pipe"],
    // Flags of the test runner are not the script's.
    env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1" },
  });
  let output = "";
  child.stdout.on("data", (chunk) => output += String(chunk));
  child.stderr.on("data", (chunk) => output += String(chunk));
  const timer = realSetTimeout(() => child.kill("SIGKILL"), timeoutMs);
  return new Promise((resolve) => {
    child.on("close", (code) => {
      realClearTimeout(timer);
      resolve({ code, output });
    });
  });
}

/** Runs TypeScript that needs a process of its own, with flags for the engine. */
export async function runCode(source: string, engineFlags: readonly string[]): Promise<Finished> {
  const folder = mkdtempSync(join(tmpdir(), "heddle-code-"));
  try {
    writeFileSync(join(folder, "main.ts"), source);
    return await runFile(join(folder, "main.ts"), engineFlags);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Timers as they were before a test installed fake ones. */
export const realSetTimeout = globalThis.setTimeout;
export const realClearTimeout = globalThis.clearTimeout;
export const realNow = performance.now.bind(performance);

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => realSetTimeout(resolve, ms));
}
