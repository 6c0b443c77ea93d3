/** How a process knows that a pool has started it as a worker (`child-processes.ts`, `child-pipe.ts`). */
import type { Socket } from "node:net";
import { Buffer } from "../node-api/builtins.ts";
import { process } from "../node-api/process/process.ts";

/** Set in the environment of such processes: what they get, or are to do, of these, with spaces between. */
export const CHILD_VARIABLE = "HEDDLE_CHILD";
/** There is a file. */
export const FILE = "file";
/** It is memory. */
export const MEMORY = "memory";
/** It ends when its host is gone, even while it loops. */
export const GUARD = "guard";

/** Whether a pool has started this process. */
export const isChild = (): boolean => process.env[CHILD_VARIABLE] !== undefined;

/** Writes chunks at once. */
export function writeTo(pipe: Socket, chunks: readonly Uint8Array[]): void {
  pipe.write(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
}
