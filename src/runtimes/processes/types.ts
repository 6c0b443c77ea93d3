/** Workers that are processes, as their host and they themselves see them. Types only. */

import type { OutputName, WorkerReading } from "../worker-handle.ts";

/** How a worker ended, beside its exit code. */
export interface Death {
  /** The id of its process, which another one may get. Undefined: it could not be started. */
  readonly processId: number | undefined;
  /** The signal that ended its process. */
  readonly signal: string | undefined;
  /** The last that its process wrote to stderr. */
  readonly stderr: string;
  /** Why its process could not be started. */
  readonly failure: string | undefined;
}

/** A file that a host and its worker process have both open. What was written outlives the process. */
export interface SharedFile {
  /** Undefined: it cannot be read. */
  readWord(index: number): number | undefined;
  /** False: nothing or only a part was written, as there is no space. */
  write(bytes: Uint8Array, position: number): boolean;
  writeWord(index: number, word: number): boolean;
  /** Fills `into`. False: it has not so many bytes. */
  read(into: Uint8Array, position: number): boolean;
}

/** A pipe between a host and a worker that is a process, and their file. */
export interface ChildPipe {
  /** Undefined: there is none. */
  readonly file: SharedFile | undefined;
  /** Whether the file is memory, which is faster than the pipe. */
  readonly isFileMemory: boolean;
  /** Writes these bytes at once. They belong to the pipe. */
  write(chunks: readonly Uint8Array[]): void;
  /** The bytes in `listener` are its own. */
  onData(listener: (bytes: Uint8Array) => void): void;
}

/** The host's end of it. */
export interface ChildProcess extends ChildPipe {
  /** It has ended, and what it wrote before has been read; or it could not be started. */
  onExit(listener: (exitCode: number | undefined, death: Death) => void): void;
  /** What it uses; undefined: not known here, or it is gone. */
  readonly read: () => Promise<WorkerReading | undefined>;
  kill(): void;
  ref(): void;
  unref(): void;
}

/** The process's end of it. */
export interface HostPipe extends ChildPipe {
  /** Calls back when all is written, to the pipe and to stdout and stderr, or a second later: perhaps twice. */
  endWrites(callback: () => void): void;
}

/** How a process is started, beside `ThreadOptions`. What is left out is the host's. */
export interface ProcessOptions {
  /** The program of a runtime. */
  readonly execPath?: string | undefined;
  /** A path or the URL of a file. */
  readonly cwd?: string | undefined;
  /** Flags of V8 that limit heap and stack. */
  readonly heapFlags: readonly string[];
  /** Takes what the process prints, in whole lines. Undefined: it is printed by this process. */
  readonly onOutput?: ((stream: OutputName, text: string) => void) | undefined;
  /** The words with which the file begins. */
  readonly words: Int32Array;
  /** Whether it is killed when this process is gone. Otherwise it ends when it returns to its event loop. */
  readonly isGuarded: boolean;
}
