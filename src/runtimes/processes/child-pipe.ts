/** A process that a pool has started as a worker: its end of the pipe (`child-processes.ts`), and what it is to its host. */
import type { NetConnectOpts, Socket } from "node:net";
import { Error, URL } from "../../builtins.ts";
import { openSharedFile } from "./shared-file.ts";
import { timers } from "../node-api/builtins.ts";
import { CHILD_VARIABLE, FILE, GUARD, isChild, MEMORY, writeTo } from "./child-variable.ts";
import { mayExist, OUTPUTS } from "../node-api/process/outputs.ts";
import { flushOutput, onUnhandledRejection, process } from "../node-api/process/process.ts";
import { isBun, isDeno, threads } from "../node-api/threads/threads.ts";
import type { WorkerRuntime } from "../runtime.ts";
import type { ParentHandle } from "../worker-handle.ts";
import type { HostPipe } from "./types.ts";

const DESCRIPTOR = 3;
const FILE_DESCRIPTOR = 4;

/** Time between two looks of the guard. */
const GUARD_MS = 1000;

/** Time for what is written last. A stream that the program has replaced may never call back. */
const LAST_MS = 1000;

/** Captured when heddle is loaded. */
const exit: (code: number) => void = process.exit.bind(process);

/** A thread that kills this process when it belongs to another one: that which has started it is gone. */
function startGuard(): void {
  const look = 'if (p.ppid !== first) p.kill(p.pid, "SIGKILL");';
  const source =
    `import p from "node:process"; const first = p.ppid; setInterval(() => { ${look} }, ${GUARD_MS});`;
  const { Worker } = threads();
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: 16 } }).unref();
}

/** Calls back when all that this process has printed has left it: nothing more may be printed. */
function endOutput(callback: () => void): void {
  if (!isBun) return flushOutput(callback);
  // Bun calls back for an empty write before the others are done (1.4), for the end of a stream after them.
  const streams = OUTPUTS.filter(mayExist).map((name) => process[name]);
  let left = streams.length;
  if (left === 0) return callback();
  const done = (): void => {
    if (--left === 0) callback();
  };
  for (const stream of streams) stream.on("error", () => {}).end(done);
}

/** The process ends with the pipe: then its host is gone. */
function openPipe(given: readonly string[]): HostPipe {
  const net = process.getBuiltinModule("node:net");
  // Bun closes a socket that is made of a descriptor, and opens one that connects to it (1.4).
  const pipe: Socket = isBun
    ? net.connect({ fd: DESCRIPTOR } as unknown as NetConnectOpts)
    : new net.Socket({ fd: DESCRIPTOR, readable: true, writable: true });
  const end = (): void => exit(0);
  for (const event of ["error", "end", "close"]) pipe.on(event, end);
  return {
    write: (chunks) => writeTo(pipe, chunks),
    onData: (listener) => void pipe.on("data", listener),
    file: given.includes(FILE) ? openSharedFile(FILE_DESCRIPTOR) : undefined,
    isFileMemory: given.includes(MEMORY),
    endWrites: (callback) => {
      timers.setTimeout(callback, LAST_MS);
      endOutput(() => void pipe.end(callback));
    },
  };
}

/** An exception ends the process when the host knows of it, which prints it. */
function createParent(pipe: HostPipe): Omit<ParentHandle, "post" | "onMessage"> {
  let isTerminating = false;
  let onUncaught = (_error: unknown): void => {};
  process.on("uncaughtException", (error) => {
    if (process.listenerCount("uncaughtException") > 1) return; // the program handles it
    isTerminating = true;
    onUncaught(error);
    timers.setTimeout(() => pipe.endWrites(() => exit(1)), 0);
  });
  return {
    onUnhandledRejection,
    onUncaught: (listener) => onUncaught = listener,
    onExit: process.on.bind(process, "exit"),
    isTerminating: () => isTerminating,
    writeDirectly: () => {},
    flushOutput,
    exit,
  };
}

/** Throws in a process that no pool has started. */
export function openProcess(): Awaited<ReturnType<NonNullable<WorkerRuntime["openProcess"]>>> {
  if (!isChild()) throw new Error("Not a process of a pool.");
  const given = process.env[CHILD_VARIABLE]!.split(" ");
  delete process.env[CHILD_VARIABLE]; // not for the children of this one
  if (given.includes(GUARD)) {
    startGuard();
    process.on("SIGINT", () => {}); // of a terminal: the host decides, and the guard ends what it leaves behind
  }
  const pipe = openPipe(given);
  // Node writes to such streams when its event loop turns: what a process writes last would be lost with it.
  for (const stream of isBun || isDeno ? [] : [process.stdout, process.stderr]) {
    (stream as { readonly _handle?: { setBlocking?(on: boolean): void } })._handle?.setBlocking?.(
      true,
    );
  }
  return { pipe, parent: createParent(pipe) };
}
