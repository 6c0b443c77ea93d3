/**
 * The interface of the encoder for the writers of the kinds of values (arrays, objects, bytes, …). The
 * encoder imports the kinds; they depend only on this interface.
 *
 * Positions (`at`, `from`) are offsets into the encoder's current memory. Each call that writes returns the
 * position of the next value and may replace the memory, so views must be reloaded after each call.
 */
import type { Memory } from "../memory/views.ts";
import type { Departure } from "../realm/handles.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";

/** A key list that is known to the receiver. */
export interface WritableKeyList {
  readonly id: number;
  /** Writes the properties of an object from `at`; returns their end. */
  readonly write: (writer: Writer, object: Record<string, unknown>, at: number) => number;
  /**
   * Whether a plain object, not a proxy, has exactly these enumerable properties. False may be wrong; true is
   * always correct if `Object.prototype` has no enumerable property.
   */
  readonly fits: (object: object) => boolean;
}

/** A point to return to. */
export interface WriterMark {
  readonly depth: number;
  readonly current: number;
  readonly seen: number;
  readonly attachments: number;
  readonly copiedBytes: number;
  readonly texts: number;
}

/** Collects the short strings of an object, which are written after it. */
export interface TextCollector {
  /** Whether strings are being collected. */
  readonly isOpen: boolean;
  add(text: string): void;
}

export interface Writer {
  readonly memory: Memory;
  readonly i32: Int32Array<SharedArrayBuffer>;
  readonly f64: Float64Array<SharedArrayBuffer>;
  readonly u8: Uint8Array<SharedArrayBuffer>;
  readonly access: CodecAccess;
  /** The features that may write values, where this side has not all. */
  readonly features: ReadonlySet<string> | undefined;
  /** End of the memory that may be written without `room`. */
  readonly limit: number;
  /** The short strings of the object being written. */
  readonly texts: TextCollector;
  /** Whether the other side may read bytes in place. */
  readonly allowsBorrow: boolean;
  /** Whether parts may travel in a message beside the record. Otherwise the value has to stand alone. */
  readonly mayAttach: boolean;
  /** Buffers up to this size are written among the other values; larger ones travel in that message. */
  readonly maxEmbeddedBytes: number;
  /** Number of objects that contain the value being written, including the value itself. */
  readonly depth: number;
  /** Number of properties so far that were deleted before they were written. */
  readonly deletedProperties: number;
  /** The prototype of the last object that was found to be an instance of an ordinary class. */
  lastClass: object | undefined;
  /** Whether parts may be transferred. False within errors, whose parts may be omitted again. */
  mayMove: boolean;

  /**
   * Ensures that `bytes` bytes may be written from `at`; returns the new position of `at`. Only the bytes
   * before `at` are kept, so `at` must be the end of the written bytes.
   */
  room(at: number, bytes: number): number;
  /** Writes any value. */
  value(value: unknown, at: number): number;
  /** The same for an object, not null. */
  object(value: object, at: number): number;
  /** Writes a value without data. */
  tag(word: number, at: number): number;
  /** Writes the first word and aux of a value whose data follows. */
  header(word: number, aux: number, at: number): number;
  /** Writes the first word and an f64. */
  double(word: number, value: number, at: number): number;
  /** Writes a property that reads as undefined: its value, or HOLE if user code has deleted it meanwhile. */
  undefinedOrGone(object: object, key: PropertyKey, at: number): number;
  /** The key list predicted for this plain object, if the object has it. */
  guessKeyList(object: object): WritableKeyList | undefined;
  /** The key list with these keys, if there is one and it has been or can be announced to the receiver. */
  keyListOf(keys: readonly string[]): WritableKeyList | undefined;

  /** Position of this object if it was written before, for `ref`. Otherwise registers it at `at` and returns -1. */
  seenAt(object: object, at: number): number;
  /** The same for a buffer that is written as part of its view at `at`. */
  bufferSeenAt(buffer: object, at: number): number;
  /** Writes a reference to the value at `seen`. */
  ref(seen: number, at: number): number;
  mark(): WriterMark;
  /** Forgets the objects visited since `mark`. The caller continues at its position of that time. */
  rewind(mark: WriterMark): void;

  /** Sends the object itself in the payload message. `isMoved`: the object is transferred. */
  attach(object: object, at: number, isMoved: boolean): number;
  /** Counts bytes of a part that will be copied for the payload message. Throws if there are too many. */
  countCopied(bytes: number, at: number): void;
  /** Writes a SharedArrayBuffer, which keeps its identity across calls. */
  shared(buffer: SharedArrayBuffer, at: number): number;
  /** A part counts as being on its way from here on. */
  depart(departure: Departure): void;
  /** The object being written is a wrapper: the next value replaces it. */
  unwrap(): void;
  /** Marks objects to be transferred instead of copied, at any position in the following values. */
  willMove(objects: readonly unknown[]): void;
  isTransferred(object: unknown): boolean;
  /** Writes a transferred object. */
  moved(object: object, at: number): number;

  /** The error to throw for a part that cannot be cloned. */
  refuse(part: unknown, reason: string, options?: ErrorOptions): Error;
}
