/** What `heddle/files` asks of Node, Deno and Bun. Not in `Runtime`: other programs do not need it. */
import type { FileHandle } from "node:fs/promises";
import { Buffer } from "./builtins.ts";
import { process } from "./process/process.ts";

/** Opens a file to read it. Undefined: it is a folder, a pipe or a device. Asked first, since a pipe opens when another program writes it. */
export async function openFile(path: string): Promise<FileHandle | undefined> {
  const { open, stat } = process.getBuiltinModule("node:fs/promises");
  return (await stat(path)).isFile() ? await open(path) : undefined;
}

/** A file of a task, which has its thread for itself. */
export interface SyncFile {
  /** Reads the bytes from `at` on into `bytes`; returns their number. */
  read(bytes: Uint8Array, at: number): number;
  close(): void;
}

export function openFileSync(path: string): SyncFile {
  const { openSync, readSync, closeSync } = process.getBuiltinModule("node:fs");
  const descriptor = openSync(path, "r");
  return {
    read: (bytes, at) => readSync(descriptor, bytes, 0, bytes.length, at),
    close: () => closeSync(descriptor),
  };
}

/** Where the first `wanted` in `bytes` is, from `at` on; -1 if there is none. */
export function indexOf(bytes: Uint8Array, wanted: Uint8Array, at: number): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(wanted, at);
}

/** The path as workers in another folder need it. */
export function absolutePath(path: string | URL): string {
  return typeof path === "string"
    ? process.getBuiltinModule("node:path").resolve(path)
    : process.getBuiltinModule("node:url").fileURLToPath(path);
}

export function countCores(): number {
  return process.getBuiltinModule("node:os").availableParallelism();
}
