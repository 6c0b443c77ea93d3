/**
 * How a feature adds kinds of values. Encoder and decoder know the ordinary kinds by themselves and ask these tables about the
 * rest, so ordinary values cost the same with any number of features.
 */
import { NO_FEATURE, NO_FUNCTIONS } from "./support/refusal.ts";
import type { Reader } from "./reader.ts";
import type { Writer } from "./writer.ts";

/** Reads the value at `at`, whose first word is `word`; sets `next`. */
export type ReadValue = (reader: Reader, at: number, word: number) => unknown;

/** Writes a value at `at` and returns its end; -1: the value is of another kind. `prototype`: the prototype of an object. */
type WriteValue = (
  writer: Writer,
  value: unknown,
  prototype: object | null,
  at: number,
) => number;

/** The path of `part` in an error: `args[0].user`. `parents`: the objects from the outermost to the one that holds it. */
type PathTo = (parents: readonly unknown[], part: unknown, name: string) => string;

/** What a feature adds to the codec of its thread. */
export interface ValueFeature {
  readonly name: string;
  /** Readers of kinds of values, by tag (`tags.ts`). */
  readonly valueReaders?: Readonly<Record<number, ReadValue>>;
  /**
   * Asked for functions, for symbols, and for objects of no ordinary kind, in the order of the features. It returns -1 for a
   * wrapper whose brand it does not know (`support/brands.ts`): another feature sends it.
   */
  readonly writeValue?: WriteValue;
  /** Names the place of a value that cannot be cloned. Without it errors name the argument. */
  readonly pathToValue?: PathTo;
}

/** By tag. Every tag has its place, so that the list stays a packed one. */
const readers: (ReadValue | undefined)[] = new Array<ReadValue | undefined>(256).fill(undefined);
const writers: WriteValue[] = [];
/** The features of these writers. */
const names: string[] = [];
let findPath: PathTo | undefined;

/** Attaches a feature to the codec of this thread. A second time changes nothing. */
export function useValues({ name, valueReaders, writeValue, pathToValue }: ValueFeature): void {
  Object.assign(readers, valueReaders);
  if (writeValue !== undefined && !writers.includes(writeValue)) {
    writers.push(writeValue);
    names.push(name);
  }
  findPath = pathToValue ?? findPath;
}

/** The reader of a tag that a feature has added. */
export function readerOf(tag: number): ReadValue | undefined {
  return readers[tag];
}

/** Writes a value of no ordinary kind. Throws DataCloneError if no feature knows its kind. */
export function writeOther(
  writer: Writer,
  value: unknown,
  prototype: object | null,
  at: number,
): number {
  for (let index = 0; index < writers.length; index++) {
    if (writer.features?.has(names[index]!) === false) continue;
    const end = writers[index]!(writer, value, prototype, at);
    if (end >= 0) return end;
  }
  throw writer.refuse(value, typeof value === "function" ? NO_FUNCTIONS : NO_FEATURE);
}

/** The path of a part in an error. */
export function pathOf(parents: readonly unknown[], part: unknown, name: string): string {
  return findPath === undefined ? name : findPath(parents, part, name);
}
