/**
 * Values in a message of their own, beside the rings. Their encoding needs no key lists, so that any thread of the pool can read
 * them: the host passes the arguments of a nested call on without reading them.
 */
import type { Codec } from "../codec/codec.ts";
import { DataCloneError } from "../errors.ts";
import { isError, textOf } from "../codec/kinds/errors.ts";
import { RESULT_NAME, type Snapshot, SnapshotEncoder } from "./snapshot.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

/** Values up to this size, as encoders write them at first, are copied into the message; larger ones share the encoder's memory. */
const MAX_COPIED_BYTES = 64 * 1024;

/** Writes and reads such values, beside the codec of a lane. Created with the first of them, since most pools have none. */
export class StandaloneValues {
  readonly #createCodec: () => Codec;
  #parts: { readonly snapshots: SnapshotEncoder; readonly reader: SnapshotReader } | undefined;

  constructor(codec: Codec) {
    this.#createCodec = () => codec.standalone();
  }

  get snapshots(): SnapshotEncoder {
    return this.#made.snapshots;
  }

  get reader(): SnapshotReader {
    return this.#made.reader;
  }

  get #made(): { readonly snapshots: SnapshotEncoder; readonly reader: SnapshotReader } {
    if (this.#parts !== undefined) return this.#parts;
    const codec = this.#createCodec();
    return this.#parts = {
      snapshots: new SnapshotEncoder(codec, MAX_COPIED_BYTES),
      reader: new SnapshotReader(codec),
    };
  }
}

/** A snapshot that can be cloned. */
export interface PackedValues {
  readonly count: number;
  readonly inline: Uint8Array<ArrayBuffer> | undefined;
  readonly payload: Snapshot["payload"];
  /** Indices of the attachments that move. */
  readonly moved: readonly number[];
  readonly isResendable: boolean;
}

/** A message and the objects that move with it. */
export interface Packed {
  readonly values: PackedValues;
  readonly transfer: readonly unknown[];
}

export function packSnapshot(snapshot: Snapshot): Packed {
  const { count, inline, payload, transfer, isResendable } = snapshot;
  const attachments = payload?.attachments ?? [];
  const moved = [...attachments.keys()].filter((index) => transfer.includes(attachments[index]));
  return { values: { count, inline, payload, moved, isResendable }, transfer };
}

/** The snapshot as it has arrived: it can be sent on, or read. `maxInlineBytes`: what a record of the next ring can hold. */
export function toSnapshot(values: PackedValues, maxInlineBytes: number = Infinity): Snapshot {
  const { count, moved, isResendable } = values;
  let { inline, payload } = values;
  if (inline !== undefined && inline.length > maxInlineBytes) {
    const buffer = new SharedArrayBuffer(inline.length);
    new Uint8Array(buffer).set(inline);
    payload = { buffer, bytes: inline.length, attachments: payload?.attachments ?? [] };
    inline = undefined;
  }
  const transfer = moved.map((index) => payload!.attachments[index]);
  return {
    count,
    inline,
    payload,
    transfer,
    isResendable,
    attached: [],
    copiedBytes: 0,
    departures: undefined,
  };
}

/** Packs what a function threw. If it cannot be encoded, its text is. */
export function packReasonOf(snapshots: SnapshotEncoder, reason: unknown): Packed {
  try {
    return packSnapshot(
      isError(reason) ? snapshots.captureError(reason) : snapshots.capture([reason], RESULT_NAME),
    );
  } catch (error) {
    const cause = isError(reason) ? new DataCloneError(textOf(reason)) : error;
    return packSnapshot(
      snapshots.captureError(isError(cause) ? cause : new DataCloneError(textOf(cause))),
    );
  }
}
