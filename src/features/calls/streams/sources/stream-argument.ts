import { STREAM } from "../../../../codec/tags.ts";
import type { Encoder } from "../../../../codec/encoder.ts";
import { brandOf, setBrand } from "../../../../codec/support/brands.ts";

/** Takes the place of an argument whose items are sent as they come. */
export class StreamArgument {
  /** Its number among the streams of the call. */
  readonly index: number;
  /** Whether the task gets a ReadableStream, otherwise an async iterable. */
  readonly isReadable: boolean;

  constructor(index: number, isReadable: boolean) {
    this.index = index;
    this.isReadable = isReadable;
    setBrand(this, "stream");
  }

  static is(object: object): object is StreamArgument {
    return brandOf(object) === "stream";
  }
}

/** Writes a StreamArgument; -1: the value is none. */
export function writeStreamArgument(
  encoder: Encoder,
  value: unknown,
  _prototype: object | null,
  from: number,
): number {
  if (!StreamArgument.is(value as object)) return -1;
  const { index, isReadable } = value as StreamArgument;
  return encoder.header(STREAM | (Number(isReadable) << 8), index, from);
}
