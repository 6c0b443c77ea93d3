/** What the host and its worker agree on. */
import type { AnyFn, StdioChunk } from "./types.ts";

/** What a worker gets when it starts. */
export interface WorkerSetup {
  /** The script of the user. */
  readonly path: string;
  readonly isModule: boolean;
  /** Code that runs before it. */
  readonly globals: string;
  /** Where the worker leaves its exit code. */
  readonly exitCode: Int32Array;
}

/** A result, or an error; and what the worker has written since its last reply. */
export type Reply = readonly [
  result: unknown,
  stdio: readonly StdioChunk[] | undefined,
  /** `isFatal`: no call has thrown it, and the worker is to end. */
  failed?: { readonly error: unknown; readonly isFatal: boolean },
];

/**
 * Where a worker takes the function of its script, in `globalThis`: another copy of this package may be the one that the script
 * imports.
 */
export const REGISTER: unique symbol = Symbol.for("heddle.synckit.register") as never;

export type Register = (fn: AnyFn) => void;
