/** A kind of value that the payload scenarios send, and how it is to travel. */

/**
 * `copy`: the receiver gets a copy. `move`: ownership of the memory goes along, there and back.
 * `struct`: a layout declared beforehand.
 */
export type Route = "copy" | "move" | "struct";

export const ROUTES: readonly Route[] = ["copy", "move", "struct"];

export interface PayloadKind {
  /** Names the row, and the bars of a chart. */
  readonly name: string;
  readonly family: "scalar" | "text" | "object" | "bytes";
  readonly route: Route;
  /** Whether `JSON.parse(JSON.stringify(value))` is the value. */
  readonly fitsJson: boolean;
  /**
   * Makes a value. Variants differ a little, so that nobody wins by remembering the last one, and
   * the same variant is the same value each time.
   */
  create(variant: number): unknown;
  /** Different values of this kind that calls cycle through, if not `VARIANTS`. */
  readonly variants?: number;
}

/** Different values of a kind that calls cycle through. */
export const VARIANTS = 64;
/** Where short strings are much of the value: more of them than heddle remembers. */
export const MANY_VARIANTS = 4096;
