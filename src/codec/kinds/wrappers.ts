/**
 * What callers wrap values in to say how they travel: `transfer`, `borrow`, and `Envelope`, which is
 * a value of its own.
 */
import { InvalidArgumentError } from "../../errors.ts";
import { brandOf, setBrand } from "../support/brands.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";
import { isBorrowed, Loan, writeLease } from "./borrow.ts";
import { isStructView } from "../struct/record-view.ts";
import { ENVELOPE, REFERENCED, VALUE_HEADER_BYTES } from "../tags.ts";
import { Transfer } from "../support/transfer.ts";

/**
 * A header and a payload that cross together: plain data that says what the payload is, and the
 * payload itself, usually bytes. Arrives as an `Envelope`; both parts are copied as any other value.
 */
export class Envelope<Header = unknown, Payload = unknown> {
  readonly header: Header;
  readonly payload: Payload;

  constructor(header: Header, payload: Payload) {
    this.header = header;
    this.payload = payload;
    setBrand(this, "envelope");
  }

  /** Whether `object` is an envelope, made by any copy of heddle. */
  static is(object: object): object is Envelope {
    return brandOf(object) === "envelope";
  }

  /** Envelopes of other copies of heddle are instances too. */
  static [Symbol.hasInstance](value: unknown): boolean {
    if (this !== Envelope) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === "object" && value !== null && Envelope.is(value);
  }
}

/** What tells these apart are their brands: others may have their prototypes. */
export const WRAPPERS: readonly object[] = [
  Envelope.prototype,
  Transfer.prototype,
  Loan.prototype,
];

/**
 * Moves instead of copying: wrap an argument of a call, or the result of a task. Whoever gives it away
 * cannot use it any more: a moved `ArrayBuffer` is detached as soon as the call is made.
 *
 * `list` says what moves: `ArrayBuffer`s, `MessagePort`s and whatever else the runtime can transfer.
 * Default: the value itself, or the buffer of a typed array, DataView or Buffer that has one for itself.
 * Throws InvalidArgumentError if there is nothing to move.
 *
 * @example
 * ```ts
 * const bytes = new Uint8Array(1 << 20);
 * const result = await pool.call.compress(transfer(bytes)); // bytes.length is 0 now
 * ```
 */
export function transfer<Value>(value: Value, list?: readonly unknown[]): Value {
  const moved = list ?? movedBy(value);
  for (const object of moved) {
    if (typeof object !== "object" || object === null || object instanceof SharedArrayBuffer) {
      throw new InvalidArgumentError(
        `transfer() moves ArrayBuffers, MessagePorts and the like, not ${describe(object)}.`,
      );
    }
  }
  return new Transfer(value, moved) as Value;
}

function movedBy(value: unknown): readonly unknown[] {
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteLength } = value;
    if (isNodeBuffer(value) && byteLength < buffer.byteLength) {
      throw new InvalidArgumentError(
        "transfer() cannot move a Buffer that is a slice of a larger ArrayBuffer (of Node's pool, " +
          "perhaps): copy it, or use a Uint8Array.",
      );
    }
    return [buffer];
  }
  if (value instanceof ArrayBuffer) return [value];
  // A plain object is never what moves; what can be moved has a class of its own.
  const prototype = typeof value === "object" && value !== null && Object.getPrototypeOf(value);
  if (prototype && prototype !== Object.prototype && !Array.isArray(value)) return [value];
  throw new InvalidArgumentError(
    `transfer() needs a list of what is to move out of ${
      describe(value)
    }: transfer(value, [buffer]).`,
  );
}

function isNodeBuffer(view: ArrayBufferView): boolean {
  return (view.constructor as { readonly name?: unknown } | undefined)?.name === "Buffer";
}

function describe(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Writes a wrapper, and −1 if `object` is none. */
export function writeWrapped(writer: Writer, object: object, from: number): number {
  const list = Transfer.listOf(object);
  if (list !== undefined) {
    if (!writer.mayMove) throw writer.refuse(object, "what an error carries cannot be moved");
    writer.unwrap();
    writer.willMove(list);
    return writer.value((object as Transfer).value, from);
  }
  if (Envelope.is(object)) {
    const at = writer.tag(ENVELOPE, from);
    return writer.value(object.payload, writer.value(object.header, at));
  }
  if (Loan.is(object)) return writeLease(writer, object, from);
  if (isBorrowed(object)) throw writer.refuse(object, "it is lent, and to this task alone");
  if (isStructView(object)) throw writer.refuse(object, "it is a view: copy what it shows");
  return -1;
}

/** Reads ENVELOPE at `at`. */
export function readEnvelope(reader: Reader, at: number, word: number): Envelope {
  const envelope = new Envelope<unknown, unknown>(undefined, undefined);
  if ((word & REFERENCED) !== 0) reader.register(at, envelope);
  const own = envelope as { header: unknown; payload: unknown };
  own.header = reader.value(at + VALUE_HEADER_BYTES);
  own.payload = reader.value(reader.next);
  return envelope;
}
