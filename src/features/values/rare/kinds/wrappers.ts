/**
 * Wrappers that determine how a value is sent: `transfer`, `borrow`, and `Envelope`, which is itself a value.
 */
import { JSON, Set } from "../../../../builtins.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { brandOf, setBrand } from "../../../../codec/support/brands.ts";
import { Transfer } from "../transfer.ts";

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

/**
 * Transfers instead of copying: wrap an argument of a call, or the result of a task. The sender cannot use
 * the transferred objects any more: an `ArrayBuffer` is detached as soon as the call is made.
 *
 * `list` contains the objects to transfer: `ArrayBuffer`s, typed arrays (their buffer moves), `MessagePort`s and any other
 * transferable objects. Default: the value itself, or the buffer of a typed array, DataView or Buffer that does not share it.
 * Throws InvalidArgumentError if there is nothing to transfer.
 *
 * @example
 * ```ts
 * const bytes = new Uint8Array(1 << 20);
 * const result = await pool.call.compress(transfer(bytes)); // bytes.length is 0 now
 * ```
 */
export function transfer<Value>(value: Value, list?: readonly unknown[]): Value {
  if (list === undefined) return new Transfer(value, [movedBy(value)]) as Value;
  if (!Array.isArray(list)) {
    throw new InvalidArgumentError(
      `The second argument of transfer() is a list of objects to move, got ${describe(list)}: ` +
        "transfer(value, [buffer]).",
    );
  }
  return new Transfer(value, movedObjects(list, "the list of transfer()")) as Value;
}

/**
 * The objects that move with a list: for typed arrays their buffers, and each once. `owner` is the list, for messages. Throws
 * InvalidArgumentError.
 */
export function movedObjects(list: readonly unknown[], owner: string): readonly unknown[] {
  const moved = new Set<unknown>();
  for (let index = 0; index < list.length; index++) {
    const object = list[index];
    const place = `Item ${index} of ${owner}`;
    if (!isMovable(object)) throw immovable(place, object);
    moved.add(ArrayBuffer.isView(object) ? bufferOf(object, place) : object);
  }
  return [...moved];
}

/** What moves with `value` if there is no list. */
function movedBy(value: unknown): unknown {
  const place = "The argument of transfer()";
  if (isMovable(value)) return ArrayBuffer.isView(value) ? bufferOf(value, place) : value;
  if (typeof value !== "object" || value === null || value instanceof SharedArrayBuffer) {
    throw immovable(place, value);
  }
  throw new InvalidArgumentError(
    `transfer() needs a list of what is to move out of ${
      describe(value)
    }: transfer(value, [buffer]).`,
  );
}

/** Whether `value` may be transferable. Only the runtime knows all objects that are; they have classes of their own. */
function isMovable(value: unknown): value is object {
  if (typeof value !== "object" || value === null || value instanceof SharedArrayBuffer) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype && !Array.isArray(value);
}

function bufferOf(view: ArrayBufferView, place: string): ArrayBufferLike {
  const { buffer, byteLength } = view;
  if (buffer instanceof SharedArrayBuffer) throw immovable(place, buffer);
  if (isNodeBuffer(view) && byteLength < buffer.byteLength) {
    throw new InvalidArgumentError(
      place +
        " is a Buffer that is a slice of a larger ArrayBuffer (of Node's pool, perhaps), which would move as a " +
        "whole: pass new Uint8Array(buffer), which is a copy.",
    );
  }
  return buffer;
}

function immovable(place: string, value: unknown): InvalidArgumentError {
  return new InvalidArgumentError(
    value instanceof SharedArrayBuffer
      ? `${place} is shared memory (SharedArrayBuffer), which both sides use: pass it without transfer.`
      : `${place} is ${
        describe(value)
      }, which cannot move: ArrayBuffers, typed arrays, MessagePorts, streams and other ` +
        "transferable objects can.",
  );
}

function isNodeBuffer(view: ArrayBufferView): boolean {
  return (view.constructor as { readonly name?: unknown } | undefined)?.name === "Buffer";
}

function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  const name = Object.prototype.toString.call(value).slice(8, -1);
  return `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}
