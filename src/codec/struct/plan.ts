/** What is done for one shape: the writer and the reader, interpreted or compiled. */
import type { Input } from "./input.ts";
import type { Output } from "./output.ts";

export interface Plan {
  /**
   * Writes `value` into the fixed part at `rel`, relative to the outermost struct, and the rest into
   * the tail. Throws a Mismatch if it does not fit. The memory may have moved afterwards.
   */
  readonly write: (out: Output, rel: number, value: unknown) => void;
  /** Reads the fixed part at `at`, which is known to lie in the record, and what belongs to it. */
  readonly read: (input: Input, at: number) => unknown;
}
