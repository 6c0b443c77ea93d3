/**
 * Snapshots: the arguments of a call or the result of a task, encoded now and sent later. They are used when
 * the values cannot go directly into a ring: no room at the moment, too large, or parts that only a port can
 * carry.
 *
 * Later changes by their owner are not seen. User code (getters) runs once, while a snapshot is encoded. A
 * snapshot can be sent to any lane, and any number of times unless parts of it move.
 */
import { type Codec, encodingError } from "../codec/codec.ts";
import type { Encoder, WriterMark } from "../codec/encoder.ts";
import type { Attachments } from "../codec/support/attachments.ts";
import { bufferIsDetached, transferBuffer } from "../codec/support/intrinsics.ts";
import { writeThrown } from "../codec/kinds/errors.ts";
import type { DeclaredValues } from "../codec/declared.ts";
import { DataCloneError, PayloadTooLargeError } from "../errors.ts";
import { PENDING } from "../codec/tags.ts";
import type { Departure } from "../realm/handles.ts";
import type { CodecAccess, ObjectKinds } from "../runtimes/runtime.ts";
import type { Payload } from "./payload-port.ts";

/** Root name in error paths, as in `args[0].x`. */
export const ARGUMENTS = "args";
export const RESULT_NAME = "result";
const ITEM_NAME = "item";

/** Values ready to be sent. */
export interface Snapshot {
  readonly count: number;
  /** The encoded values, if a record can carry them. */
  readonly inline: Uint8Array<ArrayBuffer> | undefined;
  /** The part that travels by the port, if any. */
  readonly payload: Payload | undefined;
  /** The parts of the payload that move. */
  readonly transfer: readonly unknown[];
  /** Resendable: anything that moves is heddle's own copy and can be cloned instead. */
  readonly isResendable: boolean;
  /**
   * Objects that move, are the caller's own, and are not detached yet: posting detaches them. If the snapshot
   * is not sent at once, `detached` must be called before any user code runs.
   */
  readonly attached: readonly ArrayBuffer[];
  /** Bytes of the values in separate copies, in addition to the encoded ones. */
  readonly copiedBytes: number;
  /** Parts that count as being on their way: those of a call end with it. */
  readonly departures: readonly Departure[] | undefined;
}

const NOTHING_DECLARED: DeclaredValues = [];
const NONE: readonly ArrayBuffer[] = [];

/** Number of values. Missing declared values are counted, so they are refused. */
export function countDeclared(values: readonly unknown[], declared: DeclaredValues): number {
  return Math.max(values.length, declared.length);
}

/** Writes values, some of declared shapes, and returns where they end. */
function encodeDeclared(
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
      : one.write(encoder, index, values[index], at);
  }
  return at;
}

export class SnapshotEncoder {
  /** Where the encoders come from. */
  readonly codec: Codec;
  readonly #maxInlineBytes: number;

  /** `maxInlineBytes`: the maximum of encoded bytes in a ring record. */
  constructor(codec: Codec, maxInlineBytes: number) {
    this.codec = codec;
    this.#maxInlineBytes = maxInlineBytes;
  }

  /** Tests for the kinds of objects. */
  get kinds(): ObjectKinds {
    return this.codec.access.kinds;
  }

  /**
   * Writes values, some perhaps of declared shapes, and returns where they end. Throws DataCloneError for
   * values that cannot be cloned, PayloadTooLargeError, or whatever a getter throws. `isPending`: by
   * position, values that are not known yet and will be passed to `complete`.
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

  /** The same for one result. */
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

  /**
   * Writes one more item of a stream at `at` and returns where it ends. Each item is a value of its own: an object that
   * was changed since the last item is written again. Throws as `encode` does; the items before stay.
   */
  encodeItem(encoder: Encoder, item: unknown, at: number): number {
    encoder.name = ITEM_NAME;
    encoder.isUnlimited = true;
    const isObject = typeof item === "object" && item !== null;
    const mark = isObject ? encoder.mark() : undefined;
    try {
      const copiedBefore = encoder.copiedBytes;
      const end = encoder.root(item, at);
      const bytes = end - at + encoder.copiedBytes - copiedBefore;
      if (bytes > this.codec.maxPayloadBytes) {
        throw new PayloadTooLargeError(bytes, this.codec.maxPayloadBytes);
      }
      return end;
    } catch (error) {
      if (mark !== undefined) rewindItem(encoder, mark);
      throw encodingError(error, ITEM_NAME);
    } finally {
      if (isObject) encoder.forgetObjects();
    }
  }

  /** The same for an error that a task threw, without a size limit, since it must arrive. */
  encodeError(encoder: Encoder, error: Error): number {
    encoder.name = RESULT_NAME;
    const start = encoder.begin();
    encoder.isUnlimited = true;
    return writeThrown(encoder, error, start);
  }

  /** Whether a record can hold all that was encoded up to `end`. */
  isInline(encoder: Encoder, end: number): boolean {
    return end <= this.#maxInlineBytes && encoder.attachments.isEmpty;
  }

  /** Encodes values to be sent later; objects in `moved` move instead of being copied. Throws as `encode` does. */
  capture(
    values: readonly unknown[],
    name: string = ARGUMENTS,
    declared: DeclaredValues = NOTHING_DECLARED,
    isPending?: readonly boolean[],
    moved: readonly unknown[] = [],
  ): Snapshot {
    return this.#withEncoder(name, (encoder) => {
      if (moved.length > 0) encoder.willMove(moved);
      const end = this.encode(encoder, values, name, declared, isPending);
      return this.take(encoder, end, countDeclared(values, declared));
    });
  }

  /** Encodes a value of heddle's own, without a size limit. */
  encodeInternal(value: unknown): Snapshot {
    return this.#withEncoder(RESULT_NAME, (encoder) => {
      encoder.isUnlimited = true;
      return this.take(encoder, encoder.root(value, encoder.begin()), 1);
    });
  }

  /**
   * `snapshot` with `values`, perhaps of declared shapes, in place of the PENDING ones. `positions` are the
   * positions of these arguments.
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
        at = one === undefined ? encoder.root(value, at) : one.write(encoder, position, value, at);
      }
      const whole = this.take(encoder, at, snapshot.count);
      const { departures = [] } = snapshot;
      return {
        ...whole,
        isResendable: whole.isResendable && snapshot.isResendable,
        departures: departures.length > 0
          ? [...departures, ...whole.departures ?? []]
          : whole.departures,
      };
    });
  }

  /** Encodes an error. Throws only if there is no memory. */
  captureError(error: Error): Snapshot {
    return this.#withEncoder(
      RESULT_NAME,
      (encoder) => this.take(encoder, this.encodeError(encoder, error), 1),
    );
  }

  #withEncoder(name: string, encode: (encoder: Encoder) => Snapshot): Snapshot {
    const encoder = this.codec.acquire();
    try {
      encoder.name = name;
      return encode(encoder);
    } catch (error) {
      throw encodingError(error, name);
    } finally {
      this.codec.release(encoder);
    }
  }

  /**
   * The snapshot of all that an encoder has written up to `end`. Detaches the objects that move;
   * with `isLeaving`, the caller must post it or call `detached`.
   */
  take(encoder: Encoder, end: number, count: number, isLeaving = false): Snapshot {
    encoder.checkSize(end);
    const { attachments: gathered, copiedBytes } = encoder;
    const isInline = end <= this.#maxInlineBytes;
    let inline: Uint8Array<ArrayBuffer> | undefined;
    if (isInline) {
      inline = new Uint8Array(end);
      inline.set(encoder.u8.subarray(0, end));
    }
    const bytes = isInline ? 0 : end;
    if (gathered.isEmpty) {
      const payload = isInline
        ? undefined
        : { buffer: encoder.takeScratch(), bytes, attachments: NONE };
      return {
        count,
        inline,
        payload,
        transfer: NONE,
        isResendable: true,
        attached: NONE,
        copiedBytes,
        departures: undefined,
      };
    }
    const { kinds } = encoder.access;
    if (gathered.transfer.length > 0 || gathered.unused !== undefined) {
      checkMovable(gathered, encoder.access);
    }
    const attachments = [...gathered.objects];
    const transfer = [...gathered.transfer];
    const isResendable = !gathered.movesOriginals;
    for (const object of gathered.unused ?? []) {
      if (kinds.isArrayBuffer(object)) detach(object);
      else transfer.push(object);
    }
    const buffer = isInline ? undefined : encoder.takeScratch();
    // A message is needed even if moved objects appear in no value.
    const hasMessage = !isInline || attachments.length > 0 || transfer.length > 0;
    const payload = hasMessage ? { buffer, bytes, attachments } : undefined;
    const attached = isResendable
      ? NONE
      : transfer.filter((object): object is ArrayBuffer =>
        kinds.isArrayBuffer(object) && gathered.isOriginal(object)
      );
    const departures = gathered.takeDepartures();
    const snapshot = {
      count,
      inline,
      payload,
      transfer,
      isResendable,
      attached,
      copiedBytes,
      departures,
    };
    return isLeaving || attached.length === 0 ? snapshot : detached(snapshot);
  }
}

/**
 * Forgets an item. Items before it have no attachments, since an item that has any is alone in its batch: what it would
 * move must not be moved with them.
 */
export function rewindItem(encoder: Encoder, mark: WriterMark): void {
  encoder.rewind(mark);
  encoder.attachments.clear();
}

/** Checks all objects before any is detached. If any cannot move, none does. */
function checkMovable({ transfer, unused }: Attachments, { kinds, bytes }: CodecAccess): void {
  for (const objects of [transfer, unused ?? []]) {
    for (const object of objects) {
      if (!kinds.isArrayBuffer(object)) continue;
      const reason = bufferIsDetached.call(object)
        ? "it is detached"
        // Not all engines check this.
        : bytes.isUntransferable(object)
        ? "it is marked as untransferable"
        : undefined;
      if (reason !== undefined) {
        throw new DataCloneError(`An ArrayBuffer cannot be moved: ${reason}.`);
      }
    }
  }
}

/**
 * The same snapshot with its moving buffers detached and replaced by their successors. Like `postMessage`,
 * detaches at call time.
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
