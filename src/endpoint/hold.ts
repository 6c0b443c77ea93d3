/**
 * Holding values: what a call's arguments or a task's result become when they cannot go straight
 * into a ring (no room at the moment, too large for it, or parts that only a port can carry).
 *
 * Held values are a snapshot: later changes by their owner are not seen, and user code (getters) runs
 * while they are encoded, once. They can be sent to any lane, and any number of times unless parts of
 * them are moved.
 */
import { type Codec, encodingError } from "../codec/codec.ts";
import type { Encoder } from "../codec/encoder.ts";
import type { DeclaredValues } from "../codec/struct/signature.ts";
import { DataCloneError } from "../errors.ts";
import { PENDING } from "../codec/tags.ts";
import type { Payload } from "./payload-inbox.ts";

/** What values are called in the path of a part that cannot be cloned. */
export const ARGUMENTS = "args";
export const RESULT_NAME = "result";

/** Values ready to be sent. */
export interface Held {
  readonly count: number;
  /** The encoded values, if a record can carry them. */
  readonly inline: Uint8Array<ArrayBuffer> | undefined;
  /** What goes by the port, if anything does. */
  readonly payload: Payload | undefined;
  /** The parts of the payload that move. */
  readonly transfer: readonly unknown[];
  /** Whether it can be sent again: what moves, if anything, are copies that may be copied instead. */
  readonly mayKeep: boolean;
}

const NOTHING_DECLARED: DeclaredValues = [];

/** Values, and as many as are declared: what is missing does not fit its declaration. */
export function countDeclared(values: readonly unknown[], declared: DeclaredValues): number {
  return Math.max(values.length, declared.length);
}

/** Writes values some of which are of declared shapes; returns where they end. */
export function encodeDeclared(
  encoder: Encoder,
  values: readonly unknown[],
  declared: DeclaredValues,
  from: number,
  isPending?: readonly boolean[],
): number {
  const count = countDeclared(values, declared);
  let at = from;
  for (let index = 0; index < count; index++) {
    const one = declared[index];
    at = isPending !== undefined && isPending[index] === true
      ? encoder.tag(PENDING, at)
      : one === undefined
      ? encoder.root(values[index], at)
      : encoder.struct(one, index, values[index], at);
  }
  return at;
}

export class Holder {
  readonly #codec: Codec;
  readonly #maxInlineBytes: number;

  /** `maxInlineBytes`: most bytes of encoded values that a ring record may carry. */
  constructor(codec: Codec, maxInlineBytes: number) {
    this.#codec = codec;
    this.#maxInlineBytes = maxInlineBytes;
  }

  /**
   * Encodes values to be sent later. Throws DataCloneError for what cannot be cloned,
   * PayloadTooLargeError, or whatever a getter throws. `isPending`: by position, what is not known
   * yet and will be given to `complete`.
   */
  hold(
    values: readonly unknown[],
    name: string = ARGUMENTS,
    declared: DeclaredValues = NOTHING_DECLARED,
    isPending?: readonly boolean[],
  ): Held {
    return this.#encode(name, (encoder) => {
      const start = encoder.beginInScratch();
      if (name === ARGUMENTS) encoder.list = values;
      const at = encodeDeclared(encoder, values, declared, start, isPending);
      return this.take(encoder, at, countDeclared(values, declared));
    });
  }

  /** Encodes a value of heddle's own, which no limit is for. */
  holdInternal(value: unknown): Held {
    return this.#encode(RESULT_NAME, (encoder) => {
      encoder.isUnlimited = true;
      return this.take(encoder, encoder.root(value, encoder.beginInScratch()), 1);
    });
  }

  /**
   * `held` with `values`, of declared shapes perhaps, in place of what was PENDING in it. `positions`
   * says which arguments they are.
   */
  complete(
    held: Held,
    values: readonly unknown[],
    positions: readonly number[],
    declared: DeclaredValues = NOTHING_DECLARED,
  ): Held {
    return this.#encode(ARGUMENTS, (encoder) => {
      const { inline, payload } = held;
      const bytes = inline ?? new Uint8Array(payload!.buffer!, 0, payload!.bytes);
      let at = encoder.room(encoder.beginInScratch(), bytes.length);
      encoder.u8.set(bytes, at);
      at += bytes.length;
      encoder.extras.resume(payload?.extras ?? [], held.transfer);
      for (const [index, value] of values.entries()) {
        const position = positions[index]!;
        const one = declared[position];
        at = one === undefined ? encoder.root(value, at) : encoder.struct(one, position, value, at);
      }
      const whole = this.take(encoder, at, held.count);
      return { ...whole, mayKeep: whole.mayKeep && held.mayKeep };
    });
  }

  /** Encodes an error. Throws only if there is no memory. */
  holdError(error: Error): Held {
    return this.#encode(RESULT_NAME, (encoder) => {
      encoder.isUnlimited = true;
      return this.take(encoder, encoder.error(error, encoder.beginInScratch()), 1);
    });
  }

  #encode(name: string, encode: (encoder: Encoder) => Held): Held {
    const encoder = this.#codec.lend();
    try {
      encoder.name = name;
      return encode(encoder);
    } catch (error) {
      throw encodingError(error, name);
    } finally {
      this.#codec.takeBack(encoder);
    }
  }

  /** What an encoder has written up to `end`, as held values. What is to move is detached now. */
  take(encoder: Encoder, end: number, count: number): Held {
    encoder.checkSize(end);
    const bytes = end - encoder.base;
    const extras = [...encoder.extras.objects];
    const mayKeep = !encoder.extras.movesOriginals;
    const transfer = moveNow(encoder, extras);
    if (bytes <= this.#maxInlineBytes) {
      const inline = new Uint8Array(bytes);
      inline.set(encoder.u8.subarray(encoder.base, end));
      // A message also if something is only to be moved.
      const hasMessage = extras.length > 0 || transfer.length > 0;
      const payload = hasMessage ? { buffer: undefined, bytes: 0, extras } : undefined;
      return { count, inline, payload, transfer, mayKeep };
    }
    const payload = { buffer: encoder.takeScratch(), bytes, extras };
    return { count, inline: undefined, payload, transfer, mayKeep };
  }
}

/**
 * Detaches the buffers that are to move, as a transfer does at the moment it is asked for, and puts
 * what they became into `extras`. Returns the transfer list.
 */
function moveNow(encoder: Encoder, extras: unknown[]): unknown[] {
  const { kinds } = encoder.access;
  const all = encoder.extras.allMoved;
  // All or none: nothing is detached if something cannot be.
  for (const object of all) {
    if (kinds.isArrayBuffer(object) && object.detached) {
      throw new DataCloneError("An ArrayBuffer cannot be moved: it is detached.");
    }
  }
  const moved: unknown[] = [];
  for (const object of all) {
    const index = extras.indexOf(object);
    if (!kinds.isArrayBuffer(object)) moved.push(object);
    else if (index < 0) detach(object); // it was to move, but is part of no value
    else moved.push(extras[index] = detach(object));
  }
  return moved;
}

function detach(buffer: ArrayBuffer): ArrayBuffer {
  try {
    return buffer.transfer();
  } catch (error) {
    throw new DataCloneError(`An ArrayBuffer cannot be moved: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
