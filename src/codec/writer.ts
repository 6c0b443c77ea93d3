/**
 * What the kinds of values (arrays, objects, bytes, …) need of the encoder that writes them. The
 * encoder knows the kinds; they know it by this face alone.
 *
 * Positions (`at`, `from`) are offsets into the encoder's present memory. Each call that writes returns
 * where the next value goes, possibly in other memory: views of it must be read anew after each.
 */
import type { Memory } from "../memory/views.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";

/** A shape that the receiver knows. */
export interface WritableShape {
  readonly id: number;
  /** Writes the properties of an object from `at`; returns where they end. */
  readonly write: (writer: Writer, object: Record<string, unknown>, at: number) => number;
  /**
   * Whether a plain object, which is no proxy, has exactly these enumerable properties. May say no
   * wrongly; never yes, as long as `Object.prototype` has no enumerable property.
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

/** Takes the short strings of an object, which are written behind it. */
export interface TextCollector {
  /** Whether it does now. */
  readonly isOpen: boolean;
  add(text: string): void;
}

export interface Writer {
  readonly memory: Memory;
  readonly i32: Int32Array<SharedArrayBuffer>;
  readonly f64: Float64Array<SharedArrayBuffer>;
  readonly u8: Uint8Array<SharedArrayBuffer>;
  readonly access: CodecAccess;
  /** The short strings of the object being written. */
  readonly texts: TextCollector;
  /** Whether bytes may be read in place by the other side. */
  readonly mayLend: boolean;
  /** Objects that contain what is being written, itself included. */
  readonly depth: number;
  /** Properties that were gone when their turn came, so far. */
  readonly gone: number;
  /** The prototype of the last object that was found to be an instance of an ordinary class. */
  lastClass: object | undefined;
  /** Whether parts may move: not what errors carry, which may be left out again. */
  mayMove: boolean;

  /**
   * Makes sure that `bytes` bytes may be written from `at`; returns where that is now. What lies before
   * `at` moves along, what lies behind it does not: ask from the end of what was written.
   */
  room(at: number, bytes: number): number;
  /** Writes any value. */
  value(value: unknown, at: number): number;
  /** A value without data. */
  tag(word: number, at: number): number;
  /** First word and aux of a value whose data follows. */
  header(word: number, aux: number, at: number): number;
  /** First word and an f64. */
  double(word: number, value: number, at: number): number;
  /** A property that reads as undefined: its value, or HOLE if user code has removed it meanwhile. */
  undefinedOrGone(object: object, key: PropertyKey, at: number): number;
  /** The shape that this plain object has by all experience, if it does have it. */
  guessShape(object: object): WritableShape | undefined;
  /** The shape with these keys, if there is one and the receiver will know it. */
  shapeOf(keys: readonly string[]): WritableShape | undefined;

  /** Where this object has been written before, to be passed to `ref`, or -1: it is at `at` now. */
  seenAt(object: object, at: number): number;
  /** The same for a buffer that is written as part of its view at `at`. */
  bufferSeenAt(buffer: object, at: number): number;
  /** A value that stands for the one at `seen`. */
  ref(seen: number, at: number): number;
  mark(): WriterMark;
  /** Forgets the objects met since `mark`. The caller goes on writing where it was then. */
  rewind(mark: WriterMark): void;

  /** The object itself goes with the payload message. `isMoved`: it is ours to give away. */
  extra(object: object, at: number, isMoved: boolean): number;
  /** A part of the value, this large, will be copied for the payload message. May refuse it. */
  countCopied(bytes: number, at: number): void;
  /** A SharedArrayBuffer, which keeps its identity from call to call. */
  shared(buffer: SharedArrayBuffer, at: number): number;
  /** The object being written is but a wrapper: what comes now stands in its place. */
  unwrap(): void;
  /** The objects that are to move instead of being copied, wherever they come in what follows. */
  willMove(objects: readonly unknown[]): void;
  isTransferred(object: unknown): boolean;
  /** An object that moves. */
  moved(object: object, at: number): number;

  /** What to throw for a part that cannot be cloned. */
  refuse(part: unknown, why: string, options?: ErrorOptions): Error;
}
