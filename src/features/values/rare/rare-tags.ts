/** The tags of values that ordinary payloads do not have. */
import {
  BORROWED,
  BOXED,
  ENVELOPE,
  HANDLE,
  REGEXP,
  RESIZABLE,
  SPARSE,
  SYMBOL,
} from "../../../codec/tags.ts";
import type { ReadValue } from "../../../codec/decoder.ts";

const RARE_TAGS: readonly number[] = [
  SYMBOL,
  REGEXP,
  BOXED,
  ENVELOPE,
  BORROWED,
  HANDLE,
  RESIZABLE,
  SPARSE,
];

/** Readers of all these, which ask `readers` at each use: it may load them at the first. */
export function readersLater(
  readers: () => Readonly<Record<number, ReadValue>>,
): Record<number, ReadValue> {
  return Object.fromEntries(
    RARE_TAGS.map((tag): [number, ReadValue] => [
      tag,
      (decoder, at, word) => readers()[tag]!(decoder, at, word),
    ]),
  );
}
