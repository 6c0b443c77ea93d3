/** Knitting's classes of values. Both arrive as what they are. */
import { Envelope as HeddleEnvelope } from "heddle";
import type { BufferReference, ProcessSharedBuffer } from "./unsupported.ts";

/** Plain data that describes the bytes. */
export type EnvelopeHeader =
  | string
  | number
  | boolean
  | null
  | EnvelopeHeader[]
  | { [key: string]: EnvelopeHeader };

/** The bytes. */
export type EnvelopeBody = ArrayBuffer | SharedArrayBuffer | BufferReference | ProcessSharedBuffer;

/** A header and its bytes, sent together. Disposing of it disposes of the bytes, if they can be disposed of. */
export type Envelope<
  H extends EnvelopeHeader = EnvelopeHeader,
  B extends EnvelopeBody = ArrayBuffer,
> = HeddleEnvelope<H, B>;

/** Creates an envelope of a header and its bytes. */
export const Envelope: new <H extends EnvelopeHeader, B extends EnvelopeBody = ArrayBuffer>(
  header: H,
  payload: B,
) => Envelope<H, B> = HeddleEnvelope;

/** An array crosses with its own properties but without its class: this property is what marks it. */
const MARK = "knitting.numericArray";

/** Numbers. Arrives as an array that `isNumericArray` and `instanceof` recognize. */
export class NumericArray extends Array<number> {
  /** Creates an array of these numbers. */
  constructor(...items: readonly number[]) {
    super(...items);
    Object.defineProperty(this, MARK, { value: true, enumerable: true });
  }

  /** Whether `value` is a NumericArray, created here or received. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && isNumericArray(value);
  }
}

/** Whether `value` is a {@link NumericArray}, made here or received. */
export function isNumericArray(value: object): value is NumericArray {
  return Array.isArray(value) && Object.hasOwn(value, MARK);
}
