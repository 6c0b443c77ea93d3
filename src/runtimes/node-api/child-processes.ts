/**
 * Child processes of Node, Deno and Bun, each with a pipe to this process as its descriptor 3: a pair of sockets without a name,
 * which works between all of these runtimes. `child-pipe.ts` is the child's end.
 */
import { JSON, Set } from "../../builtins.ts";
import type { Socket } from "node:net";
import type { ChildProcess as NodeChild, SpawnOptions } from "node:child_process";
import { Buffer, timers } from "./builtins.ts";
import { outputsOf, process } from "./process.ts";
import { isBun, isDeno } from "./threads.ts";
import type { ChildProcess, HostRuntime, OutputName } from "../runtime.ts";
import { createBegunFile } from "./begun-file.ts";
import { CHILD_VARIABLE, FILE, GUARD, writeTo } from "./child-variable.ts";

const { setTimeout, clearTimeout } = timers;

/** Bytes that are kept of what a child wrote to stderr last. */
const KEPT_BYTES = 16 * 1024;
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

/** Flags of this process that are for its own program, and those among them with a value behind. */
const OWN_FLAGS =
  /^(?:-[epic]+|--(?:eval|print|input-type|check|interactive|test|watch|inspect)\b.*)$/;
const WITH_VALUE = new Set(["-e", "-p", "-pe", "--eval", "--print"]);

/** Flags of Node that its children inherit, as those of `fork`. */
function inheritedFlags(): readonly string[] {
  const { execArgv } = process;
  return execArgv.filter((flag, at) =>
    !OWN_FLAGS.test(flag) && !WITH_VALUE.has(execArgv[at - 1] ?? "")
  );
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

export const limitsProcesses = (execPath: string = process.execPath): boolean =>
  !/bun(?:\.exe)?$/i.test(execPath);

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

/** Writes what a stream of a child brings to the stream of this process. */
function forward(child: NodeChild, name: OutputName, keep: (chunk: Buffer) => void): void {
  child[name]?.on("data", (chunk: Buffer) => {
    keep(chunk);
    process[name].write(chunk);
  });
}

export const spawnProcess: NonNullable<HostRuntime["spawnProcess"]> = (
  { url },
  { env = process.env, argv = [], execArgv },
  { execPath = process.execPath, cwd, heapFlags, isGuarded },
) => {
  const { fileURLToPath } = process.getBuiltinModule("node:url");
  const module = url.protocol === "file:"
    ? fileURLToPath(url.href)
    : isDeno
    ? url.href
    : importing(url);
  // A stream of this process that the program has replaced gets what children write as well.
  const captured = outputsOf((stream) => Object.hasOwn(stream, "write"));
  const file = createBegunFile();
  const options: SpawnOptions = {
    stdio: [
      "ignore",
      captured.includes("stdout") ? "pipe" : "inherit",
      "pipe",
      "pipe",
      ...(file === undefined ? [] : [file.descriptor]),
    ],
    env: {
      ...env as Readonly<Record<string, string>>,
      [CHILD_VARIABLE]: [file && FILE, isGuarded ? GUARD : undefined].join(" "),
    },
    windowsHide: true,
    ...(cwd !== undefined && { cwd }),
  };
  const command = [...commandOf(execPath, execArgv, heapFlags, module), ...argv];
  const child = process.getBuiltinModule("node:child_process").spawn(execPath, command, options);
  const pipe = child.stdio[3] as Socket | null | undefined;
  let stderr = Buffer.alloc(0);
  let isOver = false;
  let onExit: Parameters<ChildProcess["onExit"]>[0] = () => {};
  const end = (code: number | null, signal: string | null, failure?: string): void => {
    if (isOver) return;
    isOver = true;
    pipe?.destroy();
    onExit(code ?? undefined, { signal: signal ?? undefined, stderr: stderr.toString(), failure });
    file?.close();
  };
  child.on("error", ({ message }) => {
    if (child.pid === undefined) end(null, null, `its process could not be started: ${message}`);
  });
  child.on("exit", (code, signal) => {
    if (pipe === null || pipe === undefined || pipe.destroyed) return end(code, signal);
    const timer = setTimeout(() => end(code, signal), LAST_BYTES_MS);
    pipe.on("close", () => {
      clearTimeout(timer);
      end(code, signal);
    });
  });
  pipe?.on("error", () => {}); // its end is told by that of the child
  forward(child, "stderr", (chunk) => {
    stderr = Buffer.concat([stderr, chunk]).subarray(-KEPT_BYTES);
  });
  forward(child, "stdout", () => {});
  const parts = [child, pipe, child.stderr, child.stdout] as readonly Pick<
    Socket,
    "ref" | "unref"
  >[];
  return {
    write: (chunks) => {
      if (!isOver && pipe) writeTo(pipe, chunks);
    },
    onData: (listener) => void pipe?.on("data", listener),
    onExit: (listener) => onExit = listener,
    noted: () => file?.read(),
    canNote: file !== undefined,
    kill: () => kill(isOver ? undefined : child.pid),
    ref: () => parts.forEach((part) => part?.ref?.()),
    unref: () => parts.forEach((part) => part?.unref?.()),
  } satisfies ChildProcess;
};
