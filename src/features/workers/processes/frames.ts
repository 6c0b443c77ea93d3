/**
 * Frames on the pipe between a host and a worker process, in both directions.
 *
 *   byte
 *   0     bytes of the frame, a multiple of 8 (u32)
 *   4     kind (u32)
 *   8     MIRROR    head, closing or -1, words of records, of the worker's words, of loads, 0 (i32 each); then these words
 *                   (`mirror-message.ts`)
 *         PAYLOAD   length (f64); the bytes of a message of the payload port, which is one buffer
 *         NOTICE    length (f64); another message of the payload port, as `messages.ts` encodes it
 *         MESSAGE   length (f64); a message of host or worker, encoded likewise
 *         IN_FILE   length (f64), position (i32), 0 (i32); a PAYLOAD whose bytes are in the file (`shared-file.ts`)
 *
 * All numbers are little-endian. A frame of the other side is checked before anything in it is used.
 */
import { DataCloneError, ProtocolError } from "../../../errors.ts";
import { align8Large } from "../../../memory/align.ts";
import type { MirrorMessage } from "../mirror/mirror-message.ts";

export const MIRROR = 1;
export const PAYLOAD = 2;
export const NOTICE = 3;
export const MESSAGE = 4;
export const IN_FILE = 5;

const HEADER_BYTES = 8;
const MIRROR_WORDS = 8;
const FILE_FRAME_BYTES = 24;
/** Largest frame. */
export const MAX_FRAME_BYTES: number = 2 ** 31 - 8;
const NONE = -1;

/** A frame of bytes, in two parts. */
export function bytesFrame(kind: number, bytes: Uint8Array): readonly Uint8Array[] {
  const { length } = bytes;
  const header = new Uint8Array(HEADER_BYTES + 8);
  const view = new DataView(header.buffer);
  const size = HEADER_BYTES + 8 + align8Large(length);
  if (size > MAX_FRAME_BYTES) {
    throw new DataCloneError(`${length} bytes are more than one message to another program holds.`);
  }
  view.setUint32(0, size, true);
  view.setUint32(4, kind, true);
  view.setFloat64(8, length, true);
  const rest = align8Large(length) - length;
  return rest === 0 ? [header, bytes] : [header, bytes, new Uint8Array(rest)];
}

export function fileFrame(bytes: number, position: number): Uint8Array {
  const frame = new Uint8Array(FILE_FRAME_BYTES);
  const view = new DataView(frame.buffer);
  view.setUint32(0, FILE_FRAME_BYTES, true);
  view.setUint32(4, IN_FILE, true);
  view.setFloat64(8, bytes, true);
  view.setInt32(16, position, true);
  return frame;
}

/** Throws ProtocolError. */
export function readFileFrame(
  frame: ArrayBuffer,
): { readonly bytes: number; readonly position: number } {
  if (frame.byteLength !== FILE_FRAME_BYTES) {
    throw new ProtocolError(`A frame of ${frame.byteLength} bytes tells of a value in the file.`);
  }
  const view = new DataView(frame);
  return { bytes: view.getFloat64(8, true), position: view.getInt32(16, true) };
}

export function mirrorFrame({ head, closing, records, words, loads }: MirrorMessage): Uint8Array {
  const parts = [records, words, loads].map((part) => part?.length ?? 0) as [
    number,
    number,
    number,
  ];
  const end = MIRROR_WORDS + parts[0] + parts[1] + parts[2];
  const frame = new Int32Array(end + (end & 1));
  frame.set([frame.byteLength, MIRROR, head, closing ?? NONE, ...parts, 0]);
  if (records !== undefined) frame.set(records, MIRROR_WORDS);
  if (words !== undefined) frame.set(words, MIRROR_WORDS + parts[0]);
  if (loads !== undefined) frame.set(loads, MIRROR_WORDS + parts[0] + parts[1]);
  return new Uint8Array(frame.buffer);
}

/** The message of a MIRROR frame. Throws ProtocolError. */
export function readMirror(frame: ArrayBuffer): MirrorMessage {
  const words = new Int32Array(frame);
  const [, , head = 0, closing = 0, records = 0, own = 0, loads = 0] = words;
  const total = MIRROR_WORDS + records + own + loads;
  if (
    words.length < MIRROR_WORDS || records < 0 || own < 0 || loads < 0 ||
    total > words.length || total < words.length - 1
  ) {
    throw new ProtocolError(
      `A frame of ${frame.byteLength} bytes claims ${records}, ${own} and ${loads} words.`,
    );
  }
  const endOfRecords = MIRROR_WORDS + records;
  return {
    heddle: "mirror",
    head,
    records: records === 0
      ? undefined
      : words.subarray(MIRROR_WORDS, endOfRecords) as Int32Array as NonNullable<
        MirrorMessage["records"]
      >,
    ...(closing !== NONE && { closing }),
    ...(own > 0 && { words: words.subarray(endOfRecords, endOfRecords + own) }),
    loads: [...words.subarray(endOfRecords + own, total)],
  };
}

/** The bytes of any other frame. Throws ProtocolError. */
export function readBytes(frame: ArrayBufferLike): Uint8Array {
  const length = new DataView(frame).getFloat64(HEADER_BYTES, true);
  const start = HEADER_BYTES + 8;
  if (!Number.isInteger(length) || length < 0 || start + align8Large(length) !== frame.byteLength) {
    throw new ProtocolError(`A frame of ${frame.byteLength} bytes claims ${length}.`);
  }
  return new Uint8Array(frame, start, length);
}

/** Cuts what arrives into frames. */
export class FrameReader {
  readonly #header = new Uint8Array(HEADER_BYTES);
  readonly #onFrame: (kind: number, frame: ArrayBuffer) => void;
  #headerBytes = 0;
  /** The frame that is arriving, and its bytes so far. */
  #frame: Uint8Array<ArrayBuffer> | undefined;
  #filled = 0;

  readonly #maxBytes: number;

  constructor(
    onFrame: (kind: number, frame: ArrayBuffer) => void,
    maxBytes: number = MAX_FRAME_BYTES,
  ) {
    this.#onFrame = onFrame;
    this.#maxBytes = maxBytes;
  }

  /** Takes bytes, and hands on the frames that they complete. Throws ProtocolError, and what `onFrame` throws. */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#frame === undefined) {
        const most = Math.min(HEADER_BYTES - this.#headerBytes, bytes.length - at);
        this.#header.set(bytes.subarray(at, at + most), this.#headerBytes);
        this.#headerBytes += most;
        at += most;
        if (this.#headerBytes < HEADER_BYTES) return;
        this.#begin();
        continue;
      }
      const frame = this.#frame;
      const most = Math.min(frame.length - this.#filled, bytes.length - at);
      frame.set(bytes.subarray(at, at + most), this.#filled);
      this.#filled += most;
      at += most;
      if (this.#filled < frame.length) return;
      this.#frame = undefined;
      this.#headerBytes = 0;
      this.#onFrame(new DataView(frame.buffer).getUint32(4, true), frame.buffer);
    }
  }

  #begin(): void {
    const view = new DataView(this.#header.buffer);
    const size = view.getUint32(0, true);
    const kind = view.getUint32(4, true);
    const least = kind === IN_FILE ? FILE_FRAME_BYTES : HEADER_BYTES + 8;
    const most = kind === IN_FILE ? FILE_FRAME_BYTES : this.#maxBytes;
    // Before memory is taken, and waited for what may never come.
    if (kind < MIRROR || kind > IN_FILE || size < least || size > most || (size & 7) !== 0) {
      throw new ProtocolError(`A frame of kind ${kind} claims ${size} bytes.`);
    }
    this.#frame = new Uint8Array(size);
    this.#frame.set(this.#header);
    this.#filled = HEADER_BYTES;
  }
}
