/**
 * Child processes of Node, Deno and Bun, each with a pipe to this process as its descriptor 3: a pair of sockets without a name,
 * which works between all of these runtimes. `child-pipe.ts` is the child's end.
 */
import { JSON, TextDecoder } from "../../builtins.ts";
import type { Socket } from "node:net";
import type { ChildProcess as NodeChild, SpawnOptions } from "node:child_process";
import { Buffer, timers } from "../node-api/builtins.ts";
import { OUTPUTS, replacedOutputs } from "../node-api/process/outputs.ts";
import { process } from "../node-api/process/process.ts";
import { isBun, isDeno } from "../node-api/threads/threads.ts";
import type { ThreadOptions, WorkerEntry } from "../runtime.ts";
import type { OutputName } from "../worker-handle.ts";
import type { ChildProcess, ProcessOptions } from "./types.ts";
import { OutputLines } from "../output-lines.ts";
import { readProcess } from "./read-process.ts";
import { createSharedFile } from "./shared-file.ts";
import { CHILD_VARIABLE, FILE, GUARD, MEMORY, writeTo } from "./child-variable.ts";

const { setTimeout, clearTimeout } = timers;

/** Bytes that are kept of what a child wrote to stderr last. */
const KEPT_BYTES = 16 * 1024;
/** Longest time from the end of the pipe to that of the child. */
const LAST_EXIT_MS = 1000;
/** Longest time after the end of a child for what it wrote before: its own children may hold the pipe open. */
const LAST_BYTES_MS = 100;

declare const Deno: {
  readonly permissions: { querySync(descriptor: { readonly name: string }): { state: string } };
};

const DENO_PERMISSIONS = ["read", "write", "net", "env", "sys", "run", "ffi", "import"] as const;

/** What Deno's children may: what this process may as a whole. */
function denoRights(): readonly string[] {
  const granted = DENO_PERMISSIONS.filter((name) =>
    Deno.permissions.querySync({ name }).state === "granted"
  );
  if (granted.length === DENO_PERMISSIONS.length) return ["-A"];
  return [...granted.map((name) => `--allow-${name}`), "--no-prompt"];
}

/** Flags of this process that are for its own program. */
const OWN_FLAGS =
  /^(?:-[a-z]*[epic][a-z]*|--(?:eval|print|input-type|check|interactive|test|watch|inspect)\b.*)$/;

/** Flags of Node that its children inherit, as those of `fork`. What follows a flag without a dash is its value. */
function inheritedFlags(): readonly string[] {
  let isOwn = false;
  return process.execArgv.filter((flag) => {
    if (flag.startsWith("-")) isOwn = OWN_FLAGS.test(flag);
    return !isOwn;
  });
}

/** The command line of a runtime for the module, by the name of its program. */
function commandOf(
  path: string,
  flags: readonly string[] | undefined,
  heapFlags: readonly string[],
  module: string,
): readonly string[] {
  const isOwn = path === process.execPath;
  if (/deno(?:\.exe)?$/i.test(path)) {
    const rights = flags ?? (isOwn && isDeno ? denoRights() : ["-A"]);
    const v8 = heapFlags.length === 0 ? [] : [`--v8-flags=${heapFlags.join()}`];
    return ["run", ...rights, ...v8, module];
  }
  const inherited = isOwn && !isDeno && !isBun ? inheritedFlags() : [];
  return [...flags ?? inherited, ...heapFlags, module];
}

/** A module that imports `url`, where the runtime cannot start with it. */
const importing = (url: URL): string =>
  `data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(url.href)};`)}`;

/** What `process.kill` sends; Deno's `ChildProcess.kill` sends only its first signal (2.9). */
function kill(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/**
 * Gives what a stream of a child brings to the stream of this process, or to `onOutput` in whole lines. Returns what gives the rest of
 * the last line.
 */
function forward(
  child: NodeChild,
  name: OutputName,
  keep: (chunk: Buffer) => void,
  onOutput: ProcessOptions["onOutput"],
): () => void {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const lines = new OutputLines();
  child[name]?.on("data", (chunk: Buffer) => {
    keep(chunk);
    if (onOutput === undefined) return void process[name].write(chunk);
    const whole = lines.add(decoder.decode(chunk, { stream: true }));
    if (whole !== "") onOutput(name, whole);
  });
  return () => {
    const rest = lines.take();
    if (rest !== "") onOutput?.(name, rest);
  };
}

type OnExit = Parameters<ChildProcess["onExit"]>[0];

/** Calls back once, when it has ended and all that it wrote has been read. */
function watchEnd(
  child: NodeChild,
  cwd: unknown,
  pipe: Socket | null | undefined,
  onOutput: ProcessOptions["onOutput"],
  onEnd: OnExit,
): void {
  let stderr = Buffer.alloc(0);
  let isOver = false;
  const end = (code: number | null, signal: string | null, failure?: string): void => {
    if (isOver) return;
    isOver = true;
    pipe?.destroy();
    // Its own children may hold these open.
    for (const output of [child.stdout, child.stderr]) {
      (output as Partial<Socket> | null)?.unref?.();
    }
    for (const endLine of ends) endLine();
    const { pid: processId } = child;
    onEnd(code ?? undefined, {
      processId,
      signal: signal ?? undefined,
      stderr: stderr.toString(),
      failure,
    });
  };
  const keep = (chunk: Buffer): void => {
    stderr = Buffer.concat([stderr, chunk]).subarray(-KEPT_BYTES);
  };
  const ends = [
    forward(child, "stderr", keep, onOutput),
    forward(child, "stdout", () => {}, onOutput),
  ];
  child.on("error", ({ message }) => {
    if (child.pid !== undefined) return;
    // The message names the program alone.
    const place = cwd === undefined ? "" : ` in the folder ${cwd} (process.cwd)`;
    end(null, null, `it could not be started${place}: ${message}`);
  });
  let open = pipe?.destroyed === false ? 2 : 1;
  let onClosed = (): void => {};
  const closed = (): void => {
    if (--open === 0) onClosed();
  };
  child.on("close", closed);
  pipe?.on("close", closed);
  // Without the pipe it is of no use. It usually ends with it.
  pipe?.on("close", () => setTimeout(() => isOver || kill(child.pid), LAST_EXIT_MS).unref());
  pipe?.on("error", () => {}); // its end is told by that of the child
  child.on("exit", (code, signal) => {
    const timer = setTimeout(() => end(code, signal), LAST_BYTES_MS);
    onClosed = () => {
      clearTimeout(timer);
      end(code, signal);
    };
    if (open === 0) onClosed();
  });
}

/** Starts a process with the module `entry`. */
export function spawnProcess(
  { url }: WorkerEntry,
  { env, argv = [], execArgv }: ThreadOptions,
  { execPath = process.execPath, cwd, heapFlags, words, isGuarded, onOutput }: ProcessOptions,
): ChildProcess {
  const { fileURLToPath } = process.getBuiltinModule("node:url");
  const isFile = url.protocol === "file:";
  const module = isFile ? fileURLToPath(url.href) : isDeno ? url.href : importing(url);
  // A stream of this process that the program has replaced gets what children write as well.
  // Bun's children would end before a slow reader has taken what they wrote to a stream of this process.
  const captured = isBun ? OUTPUTS : replacedOutputs();
  const isPiped = onOutput !== undefined || captured.includes("stdout");
  const { file, isMemory = false } = createSharedFile(words) ?? {};
  const files = file === undefined ? [] : [file.descriptor];
  const marks = [
    ...(file === undefined ? [] : [FILE]),
    ...(isMemory ? [MEMORY] : []),
    ...(isGuarded ? [GUARD] : []),
  ];
  const options: SpawnOptions = {
    stdio: ["ignore", isPiped ? "pipe" : "inherit", "pipe", "pipe", ...files],
    env: { ...(env as object | undefined ?? process.env), [CHILD_VARIABLE]: marks.join(" ") },
    windowsHide: true,
    ...(cwd !== undefined && { cwd: cwd.startsWith("file:") ? fileURLToPath(cwd) : cwd }),
  };
  const command = [...commandOf(execPath, execArgv, heapFlags, module), ...argv];
  let child: NodeChild;
  try {
    child = process.getBuiltinModule("node:child_process").spawn(execPath, command, options);
  } catch (error) {
    file?.close();
    throw error;
  }
  // There are none if descriptors are short, which an event tells.
  const { stdio = [] } = child as Partial<Pick<NodeChild, "stdio">>;
  const pipe = stdio[3] as Socket | null | undefined;
  let onExit: OnExit = () => {};
  let isOver = false;
  watchEnd(child, options.cwd, pipe, onOutput, (code, death) => {
    isOver = true;
    onExit(code, death);
    file?.close();
  });
  // On Deno one that could not be started throws (2.9).
  const hasStarted = child.pid !== undefined;
  const parts = (hasStarted ? [child, pipe, child.stderr, child.stdout] : []) as Partial<Socket>[];
  return {
    write: (chunks) => {
      if (!isOver && pipe) writeTo(pipe, chunks);
    },
    onData: (listener) => void pipe?.on("data", listener),
    onExit: (listener) => onExit = listener,
    file,
    isFileMemory: isMemory,
    read: () => readProcess(isOver ? undefined : child.pid),
    kill: () => kill(isOver ? undefined : child.pid),
    ref: () => parts.forEach((part) => part?.ref?.()),
    unref: () => parts.forEach((part) => part?.unref?.()),
  };
}
