/**
 * Wrappers that determine how a value is sent: `transfer`, `borrow`, and `Envelope`, which is itself a value.
 */
import { InvalidArgumentError } from "../../errors.ts";
import { brandOf, setBrand } from "../support/brands.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";
import { BorrowedRange, isBorrowed, writeBorrowed } from "./borrow.ts";
import { isStructView } from "../support/struct-views.ts";
import { ENVELOPE, REFERENCED, STREAM, VALUE_HEADER_BYTES } from "../tags.ts";
import { StreamArgument } from "../support/stream-argument.ts";
import { Transfer } from "../support/transfer.ts";

/**
 * A header and a payload that are sent together: plain data that describes the payload, and the payload
 * itself, usually bytes. Arrives as an `Envelope`; both parts are copied like any other value.
 */
export class Envelope<Header = unknown, Payload = unknown> {
  /** Plain data that describes the payload. */
  readonly header: Header;
  /** What is sent with the header, usually bytes. */
  readonly payload: Payload;

  /** Creates an envelope of this header and payload. Neither is copied until it is sent. */
  constructor(header: Header, payload: Payload) {
    this.header = header;
    this.payload = payload;
    setBrand(this, "envelope");
  }

  /** Disposes of the payload if that can be disposed of. */
  [Symbol.dispose](): void {
    const payload = this.payload as { [Symbol.dispose]?: unknown } | null | undefined;
    const dispose = payload?.[Symbol.dispose];
    if (typeof dispose === "function") dispose.call(payload);
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

/** Prototypes of wrappers. Brands identify wrappers, since other objects may have these prototypes. */
export const WRAPPERS: readonly object[] = [
  Envelope.prototype,
  Transfer.prototype,
  BorrowedRange.prototype,
  StreamArgument.prototype,
];

/**
 * Transfers instead of copying: wrap an argument of a call, or the result of a task. The sender cannot use
 * the transferred objects any more: an `ArrayBuffer` is detached as soon as the call is made.
 *
 * `list` contains the objects to transfer: `ArrayBuffer`s, `MessagePort`s and any other transferable objects.
 * Default: the value itself, or the buffer of a typed array, DataView or Buffer that does not share it.
 * Throws InvalidArgumentError if there is nothing to transfer.
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
  // A plain object cannot be transferred; every transferable object has its own class.
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

/** Writes a wrapper; returns −1 if `object` is not a wrapper. */
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
  if (StreamArgument.is(object)) {
    return writer.header(STREAM | (Number(object.isReadable) << 8), object.index, from);
  }
  if (BorrowedRange.is(object)) return writeBorrowed(writer, object, from);
  if (isBorrowed(object)) throw writer.refuse(object, "it is borrowed, and only for this task");
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
