/**
 * Values of declared shapes, as encoder and decoder use them. Host and worker load the declaration of a task from the same module,
 * so a record contains only the position of each declared value.
 */
import type { Memory } from "../memory/views.ts";
import type { TextAccess } from "../runtimes/runtime.ts";
import type { Writer } from "./writer.ts";

/** A source of values whose size is fixed. */
export interface FixedInput {
  memory: Memory;
  limit: number;
  end: number;
}

/** Writes and reads the values of one declaration (`features/values/structs/codec/struct-codec.ts`). */
interface DeclaredCodec {
  /** Bytes of the fixed part, a multiple of 8: the minimum size of a value. */
  readonly fixedBytes: number;
  /** Whether every value takes exactly `fixedBytes`. */
  readonly isFixed: boolean;
  /** A description: equal if and only if layout and keys are equal. */
  describe(): string;
  /** Writes `value` at `at`; returns its end. `located` converts what it throws to an error. */
  write(out: object, at: number, value: unknown): number;
  /** The destination for `write`, for any number of values and codecs. */
  createOutput(writer: Writer): object;
  /** The public error for what `write` threw, with the value called `path`. */
  located(error: unknown, path: string): unknown;
  read(memory: Memory, text: TextAccess, at: number, limit: number): unknown;
  /** The same for a codec with `isFixed`. `input` must have all `fixedBytes` at `at`. */
  readFixed(input: FixedInput, at: number): unknown;
  createInput(memory: Memory, text: TextAccess, limit: number): FixedInput;
  /** Creates a view of the value at `at`. The memory must stay unchanged until `revoke`. */
  view(memory: Memory, text: TextAccess, at: number, limit: number): unknown;
  revoke(view: object): void;
}

/** One declared value. */
export interface DeclaredValue {
  readonly codec: DeclaredCodec;
  readonly isView: boolean;
}

/** By position; undefined if any value is accepted. */
export type DeclaredValues = readonly (DeclaredValue | undefined)[];

export interface Signature {
  readonly args: DeclaredValues | undefined;
  /** One element, or undefined if the result is not declared. */
  readonly returns: DeclaredValues | undefined;
}
