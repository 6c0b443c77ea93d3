/**
 * How a feature adds kinds of values. Encoder and decoder know the simplest by themselves and ask these tables about the
 * rest, so ordinary values cost the same with any number of features.
 */
import { type ReadValue, valueReaders } from "./decoder.ts";
import { paths, type PathTo, valueWriters, type WriteValue } from "./encoder.ts";

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

/** Attaches a feature to the codec of this thread. A second time changes nothing. */
export function useValues(feature: ValueFeature): void {
  const { name, valueReaders: readers, writeValue: write, pathToValue } = feature;
  Object.assign(valueReaders, readers);
  if (write !== undefined && !valueWriters.some((other) => other.write === write)) {
    valueWriters.push({ name, write });
  }
  paths.find = pathToValue ?? paths.find;
}
