/**
 * Values to messages and back, by the codec of the rings. Buffers that a ring would pass beside its record follow the
 * values in the message. What only a thread of the same process can get is refused, by its path.
 */
import { useInHost } from "../../api/pool/feature.ts";
import { encodingError } from "../../codec/codec.ts";
import { Decoder, type OpenStream } from "../../codec/decoder.ts";
import { Encoder } from "../../codec/encoder.ts";
import { isError, writeThrown } from "../../codec/kinds/errors.ts";
import { SharedBuffers } from "../../codec/support/shared-buffers.ts";
import { PENDING } from "../../codec/tags.ts";
import { DataCloneError, HeddleError, ProtocolError } from "../../errors.ts";
import { hostFeatures } from "../../features/host.ts";
import { createResizable } from "../../features/values/rare/kinds/other-bytes.ts";
import { align8Large } from "../../memory/align.ts";
import { type Memory, viewMemory } from "../../memory/views.ts";
import type { CodecAccess } from "../../runtimes/runtime.ts";
import { type Header, HEADER_BYTES, type HeaderFields, writeHeader } from "./frames.ts";

const ONLY_THREADS = "only a thread of the same process can get it, not another machine";
const NOT_MOVED = "nothing can be transferred to another machine";
/** Before an attachment: its length, and its maximum length or -1. */
const ATTACHMENT_HEADER_BYTES = 16;
/** Buffers of a message that are not part of its values. */
export const MAX_ATTACHMENTS = 0xffff;
/** Encoders that are kept for the next messages. */
const MAX_IDLE = 8;
/** Memory that is kept for the next message. */
const MAX_KEPT_BYTES: number = 2 * 1024 * 1024;
/** Bytes by which the resizable buffers of one message may grow: its sender reserves them with a few bytes each. */
const MAX_GROWTH_BYTES: number = 2 * 1024 * 1024;

/** Refuses what cannot leave the process. */
export class MessageEncoder extends Encoder {
  override attach(object: object, from: number, isMoved: boolean): number {
    if (!this.access.kinds.isArrayBuffer(object)) throw this.refuse(object, ONLY_THREADS);
    return super.attach(object, from, isMoved);
  }

  override shared(buffer: SharedArrayBuffer): number {
    throw this.refuse(buffer, ONLY_THREADS);
  }

  override willMove(objects: readonly unknown[]): void {
    throw this.refuse(objects[0], NOT_MOVED);
  }
}

export class MessageCodec {
  readonly maxPayloadBytes: number;
  readonly #access: CodecAccess;
  readonly #sharedBuffers = new SharedBuffers(0);
  readonly #decoder: Decoder;
  readonly #idle: MessageEncoder[] = [];
  #memory: Memory = viewMemory(new SharedArrayBuffer(64 * 1024));

  constructor(access: CodecAccess, maxPayloadBytes: number) {
    useInHost(hostFeatures); // a program that only connects creates no pool
    this.#access = access;
    this.maxPayloadBytes = maxPayloadBytes;
    this.#decoder = new Decoder(access, undefined, this.#sharedBuffers);
  }

  /**
   * A message of `first`, values of heddle's own, and `values`, which errors call `name`. `isPending`: by position,
   * values that are not known yet; `complete` adds them. Throws DataCloneError, PayloadTooLargeError, or what a getter
   * throws.
   */
  encode(
    kind: number,
    first: readonly unknown[],
    values: readonly unknown[],
    name: string,
    fields: HeaderFields = {},
    isPending?: readonly boolean[],
  ): Uint8Array {
    return this.#build(kind, name, first.length + values.length, fields, (encoder, start) => {
      let at = start;
      for (const value of first) at = encoder.root(value, at);
      if (name === "args") encoder.list = values;
      for (let index = 0; index < values.length; index++) {
        at = isPending?.[index] === true
          ? encoder.tag(PENDING, at)
          : encoder.root(values[index], at);
      }
      return at;
    });
  }

  /** What a task threw: an error by its fields, without a size limit; any other value as it is. */
  encodeThrown(kind: number, thrown: unknown, fields: HeaderFields): Uint8Array {
    if (!isError(thrown)) return this.encode(kind, [], [thrown], "result", fields);
    return this.#build(kind, "result", 1, fields, (encoder, start) => {
      encoder.isUnlimited = true;
      return writeThrown(encoder, thrown, start);
    });
  }

  /** As `encodeThrown`; what cannot be sent is replaced by the error that says so. Never throws. */
  encodeFailure(kind: number, thrown: unknown, fields: HeaderFields): Uint8Array {
    try {
      return this.encodeThrown(kind, thrown, fields);
    } catch (error) {
      const safe = error instanceof HeddleError
        ? error
        : new DataCloneError("What the task threw cannot be cloned: reading it failed.");
      return this.encodeThrown(kind, safe, fields);
    }
  }

  /** A message of heddle's own values, which no limit of the user concerns. */
  encodeOwn(kind: number, values: readonly unknown[], fields: HeaderFields): Uint8Array {
    return this.#build(kind, "message", values.length, fields, (encoder, start) => {
      encoder.isUnlimited = true;
      return values.reduce<number>((at, value) => encoder.root(value, at), start);
    });
  }

  /** `message` with the values in the place of the pending ones. */
  complete(
    message: Uint8Array,
    header: Header,
    values: readonly unknown[],
    positions: readonly number[],
  ): Uint8Array {
    const { kind, count, number, word, sender } = header;
    return this.#build(kind, "args", count, { number, word, sender }, (encoder, start) => {
      const end = HEADER_BYTES + header.valueBytes;
      let at = encoder.room(start, header.valueBytes);
      encoder.u8.set(message.subarray(HEADER_BYTES, end), at);
      at += header.valueBytes;
      for (const attachment of this.#attachments(message, end, header.attachments)) {
        encoder.attachments.add(attachment, true);
        encoder.countCopied(attachment.byteLength, at);
      }
      for (const [index, value] of values.entries()) {
        encoder.name = `args[${positions[index]}]`;
        at = encoder.root(value, at);
      }
      return at;
    });
  }

  /** The values of a message, which may contain streams if there is `openStream`. Throws ProtocolError if they are damaged. */
  decode(bytes: Uint8Array, header: Header, openStream?: OpenStream): unknown[] {
    const { valueBytes, count } = header;
    if (
      valueBytes % 8 !== 0 || HEADER_BYTES + valueBytes > bytes.length || count > valueBytes / 8
    ) {
      throw new ProtocolError(`A message of ${bytes.length} bytes claims ${valueBytes}.`);
    }
    const end = HEADER_BYTES + valueBytes;
    const attachments = this.#attachments(bytes, end, header.attachments);
    const memory = this.#room(valueBytes);
    memory.u8.set(bytes.subarray(HEADER_BYTES, end));
    this.#decoder.openStream = openStream;
    try {
      return this.#decoder.all(memory, 0, valueBytes, count, attachments);
    } finally {
      this.#decoder.openStream = undefined;
    }
  }

  /** The attachments, which begin at `from`. Sets what all resizable buffers of the message may reserve. */
  #attachments(bytes: Uint8Array, from: number, count: number): ArrayBuffer[] {
    this.#decoder.growthBytes = MAX_GROWTH_BYTES;
    return readAttachments(bytes, from, count, this.#decoder);
  }

  #room(bytes: number): Memory {
    if (bytes <= this.#memory.u8.length) return this.#memory;
    const memory = viewMemory(new SharedArrayBuffer(align8Large(bytes)));
    if (bytes <= MAX_KEPT_BYTES) this.#memory = memory;
    return memory;
  }

  #build(
    kind: number,
    name: string,
    count: number,
    fields: HeaderFields,
    write: (encoder: MessageEncoder, start: number) => number,
  ): Uint8Array {
    const encoder = this.acquire();
    try {
      const start = encoder.begin();
      encoder.name = name;
      const end = write(encoder, start);
      encoder.checkSize(end);
      return this.finish(encoder, end, kind, { ...fields, count });
    } catch (error) {
      throw encodingError(error, name);
    } finally {
      this.release(encoder);
    }
  }

  /** An encoder for one message. Several may be in use: encoding runs user code, which may itself make a call. */
  acquire(): MessageEncoder {
    return this.#idle.pop() ?? new MessageEncoder({
      access: this.#access,
      keyLists: undefined,
      sharedBuffers: this.#sharedBuffers,
      maxPayloadBytes: this.maxPayloadBytes,
      allowsBorrow: false,
    });
  }

  release(encoder: MessageEncoder): void {
    encoder.end();
    if (this.#idle.length < MAX_IDLE) this.#idle.push(encoder);
  }

  /** The message of what was encoded up to `end`. */
  finish(encoder: MessageEncoder, end: number, kind: number, fields: HeaderFields): Uint8Array {
    const buffers = encoder.attachments.objects as readonly ArrayBuffer[];
    const attachments = buffers.length;
    if (attachments > MAX_ATTACHMENTS) {
      throw new DataCloneError(`A message has more than ${MAX_ATTACHMENTS} buffers.`);
    }
    const bytes = new Uint8Array(HEADER_BYTES + end + roomForAttachments(buffers));
    writeHeader(bytes, kind, { ...fields, attachments, valueBytes: end });
    bytes.set(encoder.u8.subarray(0, end), HEADER_BYTES);
    if (attachments > 0) writeAttachments(bytes, HEADER_BYTES + end, buffers);
    return bytes;
  }
}

function roomForAttachments(buffers: readonly ArrayBuffer[]): number {
  let bytes = 0;
  for (const buffer of buffers) bytes += ATTACHMENT_HEADER_BYTES + align8Large(buffer.byteLength);
  return bytes;
}

function writeAttachments(
  bytes: Uint8Array,
  from: number,
  buffers: readonly ArrayBuffer[],
): void {
  const view = new DataView(bytes.buffer);
  let at = from;
  for (const buffer of buffers) {
    view.setFloat64(at, buffer.byteLength, true);
    view.setFloat64(at + 8, buffer.resizable ? buffer.maxByteLength : -1, true);
    bytes.set(new Uint8Array(buffer), at + ATTACHMENT_HEADER_BYTES);
    at += ATTACHMENT_HEADER_BYTES + align8Large(buffer.byteLength);
  }
}

/** Copies of the attachments, each alone in its buffer. Throws ProtocolError. */
function readAttachments(
  bytes: Uint8Array,
  from: number,
  count: number,
  decoder: Decoder,
): ArrayBuffer[] {
  const buffers: ArrayBuffer[] = [];
  if (count === 0 && from === bytes.length) return buffers;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = from;
  for (let index = 0; index < count; index++) {
    const start = at + ATTACHMENT_HEADER_BYTES;
    const length = start <= bytes.length ? view.getFloat64(at, true) : NaN;
    if (!Number.isInteger(length) || length < 0 || length > bytes.length - start) {
      throw new ProtocolError(`Attachment ${index} of a message claims ${length} bytes.`);
    }
    const maximum = view.getFloat64(at + 8, true);
    const buffer = maximum >= length
      ? createResizable(decoder, length, maximum)
      : new ArrayBuffer(length);
    new Uint8Array(buffer).set(bytes.subarray(start, start + length));
    buffers.push(buffer);
    at = start + align8Large(length);
  }
  if (at !== bytes.length) throw new ProtocolError(`A message ends at ${at} of ${bytes.length}.`);
  return buffers;
}
