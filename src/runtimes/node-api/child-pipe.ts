/** A process that a pool has started as a worker: its end of the pipe (`child-processes.ts`), and what it is to its host. */
import type { Socket } from "node:net";
import { Error } from "../../builtins.ts";
import { begunWriter } from "./begun-file.ts";
import { Buffer } from "./builtins.ts";
import { process } from "./process.ts";
import { isBun } from "./threads.ts";
import type { HostPipe } from "../runtime.ts";

/** Set in the environment of such processes: empty, or NO_FILE where there is no file to note anything in. */
export const CHILD_VARIABLE = "HEDDLE_CHILD";
export const NO_FILE = "no-file";

const DESCRIPTOR = 3;
const FILE_DESCRIPTOR = 4;

/** Writes chunks at once. */
export function writeTo(pipe: Socket, chunks: readonly Uint8Array[]): void {
  pipe.write(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
}

/** Whether a pool has started this process. */
export const isChild = (): boolean => process.env[CHILD_VARIABLE] !== undefined;

/** Opens the pipe. Throws in a process that no pool has started. The process ends with it: then its host is gone. */
export function openPipe(): HostPipe {
  if (!isChild()) throw new Error("Not a process of a pool.");
  const hasFile = process.env[CHILD_VARIABLE] !== NO_FILE;
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
    note: hasFile ? begunWriter(FILE_DESCRIPTOR) : undefined,
    endWrites: (callback) => void (pipe as Socket).end(callback),
  };
}
