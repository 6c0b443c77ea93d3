/** A process that a pool has started as a worker: its end of the pipe (`child-processes.ts`), and what it is to its host. */
import type { Socket } from "node:net";
import { Error, URL } from "../../builtins.ts";
import { begunWriter } from "./begun-file.ts";
import { Buffer } from "./builtins.ts";
import { process } from "./process.ts";
import { isBun, threads } from "./threads.ts";
import type { HostPipe } from "../runtime.ts";

/** Set in the environment of such processes: what they get, or are to do, of these, with spaces between. */
export const CHILD_VARIABLE = "HEDDLE_CHILD";
/** There is a file to note something in. */
export const FILE = "file";
/** It ends when its host is gone, even while it loops. */
export const GUARD = "guard";

const DESCRIPTOR = 3;
const FILE_DESCRIPTOR = 4;

/** Writes chunks at once. */
export function writeTo(pipe: Socket, chunks: readonly Uint8Array[]): void {
  pipe.write(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
}

/** Whether a pool has started this process. */
export const isChild = (): boolean => process.env[CHILD_VARIABLE] !== undefined;

/** Time between two looks of the guard. */
const GUARD_MS = 1000;

/** A thread that kills this process when it belongs to another one: that which has started it is gone. */
function startGuard(): void {
  const source =
    `import p from "node:process"; const first = p.ppid; setInterval(() => { if (p.ppid !== first) p.kill(p.pid, "SIGKILL"); }, ${GUARD_MS});`;
  const { Worker } = threads();
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: 16 } }).unref();
}

/** Opens the pipe. Throws in a process that no pool has started. The process ends with it: then its host is gone. */
export function openPipe(): HostPipe {
  if (!isChild()) throw new Error("Not a process of a pool.");
  const given = process.env[CHILD_VARIABLE]!.split(" ");
  if (given.includes(GUARD)) startGuard();
  delete process.env[CHILD_VARIABLE]; // not for the children of this one
  const net = process.getBuiltinModule("node:net");
  // Bun closes a socket that is made of a descriptor, and opens one that connects to it (1.4).
  const pipe = isBun
    ? net.connect({ fd: DESCRIPTOR } as unknown as import("node:net").NetConnectOpts)
    : new net.Socket({ fd: DESCRIPTOR, readable: true, writable: true });
  const end = (): void => process.exit(0);
  pipe.on("error", end);
  pipe.on("close", end);
  pipe.on("end", end);
  return {
    write: (chunks) => writeTo(pipe, chunks),
    onData: (listener) => void pipe.on("data", listener),
    note: given.includes(FILE) ? begunWriter(FILE_DESCRIPTOR) : undefined,
    endWrites: (callback) => void (pipe as Socket).end(callback),
  };
}
