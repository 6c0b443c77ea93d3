/**
 * A file without a name that a host and its child have both open: words and bytes that outlive the child, however it ends. A write
 * of a word takes 1.3 µs on Node and Deno, 0.8 on Bun.
 */
import { process } from "../node-api/process/process.ts";
import type { SharedFile } from "./types.ts";

/** Memory, where there is such a folder (Linux). */
const MEMORY = "/dev/shm";

/** The host's end. */
export interface HostFile extends SharedFile {
  readonly descriptor: number;
  /** Nothing is read or written afterwards: its descriptor may be that of another file. */
  close(): void;
}

/** `isOpen` guards each use of the descriptor. */
function createAccess(descriptor: number, isOpen: () => boolean): SharedFile {
  const { readSync, writeSync } = process.getBuiltinModule("node:fs");
  const word = new Int32Array(1);
  const write = (bytes: Int32Array | Uint8Array, position: number): boolean => {
    try {
      const { byteLength } = bytes;
      return isOpen() && writeSync(descriptor, bytes, 0, byteLength, position) === byteLength;
    } catch {
      return false; // no space, or it is not there
    }
  };
  const read = (into: Int32Array | Uint8Array, position: number): boolean => {
    try {
      const { byteLength } = into;
      return isOpen() && readSync(descriptor, into, 0, byteLength, position) === byteLength;
    } catch {
      return false;
    }
  };
  return {
    write,
    read,
    readWord: (index) => read(word, 4 * index) ? word[0] : undefined,
    writeWord: (index, value) => {
      word[0] = value;
      return write(word, 4 * index);
    },
  };
}

/** A new file in a folder that begins with these words. Throws what the system says. */
function createIn(folder: string, words: Int32Array): number {
  const fs = process.getBuiltinModule("node:fs");
  const { O_CREAT, O_EXCL, O_RDWR } = fs.constants;
  // `node:crypto` would take the first process of a program 8 ms to load. A name that exists already is refused, not opened.
  const path = `${folder}/heddle-${process.pid}-${process.hrtime.bigint()}`;
  const descriptor = fs.openSync(path, O_CREAT | O_EXCL | O_RDWR, 0o600);
  try {
    fs.unlinkSync(path);
    fs.writeSync(descriptor, words, 0, words.byteLength, 0);
    return descriptor;
  } catch (error) {
    fs.closeSync(descriptor);
    throw error;
  }
}

/** A file that begins with these words, and whether it is in memory. Undefined: this system or its rights allow none. */
export function createSharedFile(
  words: Int32Array,
): { readonly file: HostFile; readonly isMemory: boolean } | undefined {
  if (process.platform === "win32") return undefined;
  for (const isMemory of [true, false]) {
    let descriptor: number;
    try {
      const folder = isMemory ? MEMORY : process.getBuiltinModule("node:os").tmpdir();
      descriptor = createIn(folder, words);
    } catch {
      continue; // there is none, it is full, or this program may not
    }
    let isOpen = true;
    const close = (): void => {
      isOpen = false;
      process.getBuiltinModule("node:fs").closeSync(descriptor);
    };
    return { file: { ...createAccess(descriptor, () => isOpen), descriptor, close }, isMemory };
  }
  return undefined;
}

const always = (): boolean => true;

/**
 * The child's end, by a descriptor of its own: the program may close the one that it has inherited, and Deno knows only such that
 * it has opened (2.9). Undefined: it cannot be used.
 */
export function openSharedFile(inherited: number): SharedFile | undefined {
  try {
    const { openSync } = process.getBuiltinModule("node:fs");
    return createAccess(openSync(`/proc/self/fd/${inherited}`, "r+"), always);
  } catch {
    const file = createAccess(inherited, always); // no Linux, or it may not
    return file.readWord(0) === undefined ? undefined : file;
  }
}
