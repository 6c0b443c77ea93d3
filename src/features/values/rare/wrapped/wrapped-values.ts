/** How wrapped values are sent. */
import type { Brand } from "../../../../codec/support/brands.ts";
import type { Decoder } from "../../../../codec/decoder.ts";
import type { Encoder } from "../../../../codec/encoder.ts";
import { ENVELOPE, VALUE_HEADER_BYTES } from "../../../../codec/tags.ts";
import { BorrowedRange } from "../kinds/borrow.ts";
import { Transfer } from "../transfer.ts";
import { Envelope } from "../kinds/wrappers.ts";
import { writeBorrowed } from "./borrowed.ts";

/** Prototypes of wrappers. Brands identify wrappers, since other objects may have these prototypes. */
export const WRAPPERS: readonly object[] = [
  Envelope.prototype,
  Transfer.prototype,
  BorrowedRange.prototype,
];

/** Writes a wrapper; -1: another feature does. */
export function writeWrapper(
  encoder: Encoder,
  wrapper: object,
  brand: Brand,
  from: number,
): number {
  if (typeof brand === "object") {
    if (!encoder.mayMove) throw encoder.refuse(wrapper, "what an error carries cannot be moved");
    encoder.seen.dropLast();
    encoder.willMove(brand);
    return encoder.value((wrapper as Transfer).value, from);
  }
  if (brand === "envelope") {
    const { header, payload } = wrapper as Envelope;
    return encoder.value(payload, encoder.value(header, encoder.tag(ENVELOPE, from)));
  }
  return brand === "borrow" ? writeBorrowed(encoder, wrapper as BorrowedRange, from) : -1;
}

/** Reads ENVELOPE at `at`. */
export function readEnvelope(decoder: Decoder, at: number, word: number): Envelope {
  const envelope = new Envelope<unknown, unknown>(undefined, undefined);
  decoder.noted(at, word, envelope);
  const own = envelope as { header: unknown; payload: unknown };
  own.header = decoder.value(at + VALUE_HEADER_BYTES);
  own.payload = decoder.value(decoder.next);
  return envelope;
}
