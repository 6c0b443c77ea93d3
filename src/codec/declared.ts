/**
 * Values of declared shapes. Host and worker load the declaration of a task from the same module, so a record contains only the
 * position of each declared value. A feature makes them and reads their tag.
 */
import type { Encoder } from "./encoder.ts";

/** One declared value. */
export interface DeclaredValue {
  /** Writes the argument at `position`, or the result, at `from`; returns its end. */
  write(encoder: Encoder, position: number, value: unknown, from: number): number;
}

/** By position; undefined if any value is accepted. */
export type DeclaredValues = readonly (DeclaredValue | undefined)[];

export interface Signature {
  readonly args: DeclaredValues | undefined;
  /** One element, or undefined if the result is not declared. */
  readonly returns: DeclaredValues | undefined;
}
