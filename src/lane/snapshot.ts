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
import type { Attachments } from "../codec/support/attachments.ts";
import { bufferIsDetached, transferBuffer } from "../codec/support/intrinsics.ts";
import type { DeclaredValues } from "../codec/struct/signature.ts";
import { DataCloneError } from "../errors.ts";
import { PENDING } from "../codec/tags.ts";
import type { CodecAccess, ObjectKinds } from "../runtimes/runtime.ts";
import type { Payload } from "./payload-port.ts";

/** What values are called in the path of a part that cannot be cloned. */
export const ARGUMENTS = "args";
export const RESULT_NAME = "result";

/** Values ready to be sent. */
export interface Snapshot {
  readonly count: number;
  /** The encoded values, if a record can carry them. */
  readonly inline: Uint8Array<ArrayBuffer> | undefined;
  /** What goes by the port, if anything does. */
  readonly payload: Payload | undefined;
  /** The parts of the payload that move. */
  readonly transfer: readonly unknown[];
  /** Whether it can be sent again: what moves, if anything, are copies that may be copied instead. */
  readonly mayKeep: boolean;
  /**
   * Those of what moves that are the caller's own and not detached yet, since posting does that as well. Whoever does
   * not send them at once detaches them (`detached`) before any code of the user's runs.
   */
  readonly attached: readonly ArrayBuffer[];
  /** Bytes of the values that are in copies of their own, beside the encoded ones. */
  readonly copiedBytes: number;
}

const NOTHING_DECLARED: DeclaredValues = [];
const NONE: readonly ArrayBuffer[] = [];

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

export class SnapshotEncoder {
  readonly #codec: Codec;
  readonly #maxInlineBytes: number;

  /** `maxInlineBytes`: most bytes of encoded values that a ring record may carry. */
  constructor(codec: Codec, maxInlineBytes: number) {
    this.#codec = codec;
    this.#maxInlineBytes = maxInlineBytes;
  }

  /** What tells the parts of held values apart. */
  get kinds(): ObjectKinds {
    return this.#codec.access.kinds;
  }

  /** An encoder that nobody uses: encoding runs user code, which may encode in turn. Give it back by `release`. */
  acquire(): Encoder {
    return this.#codec.lend();
  }

  release(encoder: Encoder): void {
    this.#codec.takeBack(encoder);
  }

  /**
   * Writes values, some of declared shapes perhaps, and returns where they end. Throws DataCloneError for what cannot be
   * cloned, PayloadTooLargeError, or whatever a getter throws. `isPending`: by position, what is not known
   * yet and will be given to `complete`.
   */
  encode(
    encoder: Encoder,
    values: readonly unknown[],
    name: string,
    declared?: DeclaredValues,
    isPending?: readonly boolean[],
  ): number {
    try {
      encoder.name = name;
      let at = encoder.begin();
      if (name === ARGUMENTS) encoder.list = values;
      if (declared !== undefined || isPending !== undefined) {
        at = encodeDeclared(encoder, values, declared ?? NOTHING_DECLARED, at, isPending);
      } else {
        for (let index = 0; index < values.length; index++) at = encoder.root(values[index], at);
      }
      encoder.checkSize(at);
      return at;
    } catch (error) {
      throw encodingError(error, name);
    }
  }

  /** The same for one result, or an error that a task threw: that is subject to no limit, since it must arrive. */
  encodeResult(encoder: Encoder, value: unknown, declared: DeclaredValues | undefined): number {
    if (declared !== undefined) return this.encode(encoder, [value], RESULT_NAME, declared);
    try {
      encoder.name = RESULT_NAME;
      const end = encoder.root(value, encoder.begin());
      encoder.checkSize(end);
      return end;
    } catch (error) {
      throw encodingError(error, RESULT_NAME);
    }
  }

  encodeError(encoder: Encoder, error: Error): number {
    encoder.name = RESULT_NAME;
    const start = encoder.begin();
    encoder.isUnlimited = true;
    return encoder.error(error, start);
  }

  /** Whether a record can carry all that was encoded up to `end`. */
  isInline(encoder: Encoder, end: number): boolean {
    return end <= this.#maxInlineBytes && encoder.attachments.isEmpty;
  }

  /** Encodes values to be sent later. Throws as `encode` does. */
  hold(
    values: readonly unknown[],
    name: string = ARGUMENTS,
    declared: DeclaredValues = NOTHING_DECLARED,
    isPending?: readonly boolean[],
  ): Snapshot {
    return this.#withEncoder(name, (encoder) => {
      const end = this.encode(encoder, values, name, declared, isPending);
      return this.take(encoder, end, countDeclared(values, declared));
    });
  }

  /** Encodes a value of heddle's own, which no limit is for. */
  encodeInternal(value: unknown): Snapshot {
    return this.#withEncoder(RESULT_NAME, (encoder) => {
      encoder.isUnlimited = true;
      return this.take(encoder, encoder.root(value, encoder.begin()), 1);
    });
  }

  /**
   * `snapshot` with `values`, of declared shapes perhaps, in place of what was PENDING in it. `positions`
   * says which arguments they are.
   */
  complete(
    snapshot: Snapshot,
    values: readonly unknown[],
    positions: readonly number[],
    declared: DeclaredValues = NOTHING_DECLARED,
  ): Snapshot {
    return this.#withEncoder(ARGUMENTS, (encoder) => {
      const { inline, payload } = snapshot;
      const bytes = inline ?? new Uint8Array(payload!.buffer!, 0, payload!.bytes);
      let at = encoder.room(encoder.begin(), bytes.length);
      encoder.u8.set(bytes, at);
      at += bytes.length;
      encoder.countCopied(snapshot.copiedBytes, at);
      encoder.attachments.resume(payload?.attachments ?? [], snapshot.transfer);
      for (const [index, value] of values.entries()) {
        const position = positions[index]!;
        encoder.name = `${ARGUMENTS}[${position}]`;
        const one = declared[position];
        at = one === undefined ? encoder.root(value, at) : encoder.struct(one, position, value, at);
      }
      const whole = this.take(encoder, at, snapshot.count);
      return { ...whole, mayKeep: whole.mayKeep && snapshot.mayKeep };
    });
  }

  /** Encodes an error. Throws only if there is no memory. */
  holdError(error: Error): Snapshot {
    return this.#withEncoder(
      RESULT_NAME,
      (encoder) => this.take(encoder, this.encodeError(encoder, error), 1),
    );
  }

  #withEncoder(name: string, encode: (encoder: Encoder) => Snapshot): Snapshot {
    const encoder = this.acquire();
    try {
      encoder.name = name;
      return encode(encoder);
    } catch (error) {
      throw encodingError(error, name);
    } finally {
      this.release(encoder);
    }
  }

  /**
   * What an encoder has written up to `end`, as held values. What is to move is detached now, or, if
   * `isLeaving`, when it is posted or `detached`.
   */
  take(encoder: Encoder, end: number, count: number, isLeaving = false): Snapshot {
    encoder.checkSize(end);
    const { attachments: gathered } = encoder;
    const { kinds } = encoder.access;
    checkMovable(gathered, encoder.access);
    const attachments = [...gathered.objects];
    const transfer = [...gathered.transfer];
    const mayKeep = !gathered.movesOriginals;
    for (const object of gathered.unused ?? []) {
      if (kinds.isArrayBuffer(object)) detach(object);
      else transfer.push(object);
    }
    const isInline = end <= this.#maxInlineBytes;
    let inline: Uint8Array<ArrayBuffer> | undefined;
    if (isInline) {
      inline = new Uint8Array(end);
      inline.set(encoder.u8.subarray(0, end));
    }
    const buffer = isInline ? undefined : encoder.takeScratch();
    // A message also if something is only to be moved.
    const hasMessage = !isInline || attachments.length > 0 || transfer.length > 0;
    const payload = hasMessage ? { buffer, bytes: isInline ? 0 : end, attachments } : undefined;
    const attached = mayKeep
      ? NONE
      : transfer.filter((object): object is ArrayBuffer =>
        kinds.isArrayBuffer(object) && gathered.isOriginal(object)
      );
    const { copiedBytes } = encoder;
    const snapshot = { count, inline, payload, transfer, mayKeep, attached, copiedBytes };
    return isLeaving ? snapshot : detached(snapshot);
  }
}

/** Before any is detached: nothing moves if something has moved already, or must not. */
function checkMovable({ transfer, unused }: Attachments, { kinds, bytes }: CodecAccess): void {
  for (const objects of [transfer, unused ?? []]) {
    for (const object of objects) {
      if (!kinds.isArrayBuffer(object)) continue;
      const why = bufferIsDetached.call(object)
        ? "it is detached"
        // Not all engines keep to it.
        : bytes.isUntransferable(object)
        ? "it is marked as untransferable"
        : undefined;
      if (why !== undefined) throw new DataCloneError(`An ArrayBuffer cannot be moved: ${why}.`);
    }
  }
}

/**
 * The same with the buffers detached that are to move, as a transfer does at the moment it is asked for, and what they
 * became in their place.
 */
export function detached(snapshot: Snapshot): Snapshot {
  const { attached } = snapshot;
  if (attached.length === 0) return snapshot;
  const attachments = [...snapshot.payload!.attachments];
  const transfer = [...snapshot.transfer];
  for (const buffer of attached) {
    attachments[attachments.indexOf(buffer)] = transfer[transfer.indexOf(buffer)] = detach(buffer);
  }
  return { ...snapshot, payload: { ...snapshot.payload!, attachments }, transfer, attached: NONE };
}

function detach(buffer: ArrayBuffer): ArrayBuffer {
  try {
    return transferBuffer.call(buffer);
  } catch (error) {
    throw new DataCloneError(`An ArrayBuffer cannot be moved: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
