/**
 * Both sides of a payload port: each message is matched to a ring record by number.
 * docs/internals/payload-port.md explains the protocol.
 *
 * A message is posted before its record is committed, so it is there when the record is seen. Messages that
 * are received before their record are kept by number. A message that cannot be deserialized counts as
 * received and fails the record that refers to it, nothing else.
 */
import { Map, MessagePort } from "../builtins.ts";
import { textOf } from "../codec/kinds/errors.ts";
import { isStackOverflow } from "../codec/support/stack-overflow.ts";
import { DataCloneError, ProtocolError } from "../errors.ts";
import type { ObjectKinds, PayloadPort } from "../runtimes/runtime.ts";

/** The part of a snapshot that travels in a message. */
export interface Payload {
  /** The encoded values, in its first `bytes` bytes. Undefined: they are in the record. */
  readonly buffer: SharedArrayBuffer | undefined;
  readonly bytes: number;
  /** Objects that the encoded values refer to by index. */
  readonly attachments: readonly unknown[];
}

/**
 * The message: the attachments, then the buffer, if there is one. Nothing else, since each level and each
 * member costs time when messages are made and read (a sixth on Deno). The record holds the rest.
 */
type PayloadMessage = readonly unknown[];

/** The buffer of a message whose record announces `bytes` bytes of encoded values. */
export function bufferOf(
  parts: PayloadMessage,
  bytes: number,
  { isSharedArrayBuffer, isArrayBuffer }: ObjectKinds,
): SharedArrayBuffer {
  const buffer = parts[parts.length - 1];
  // `instanceof` fails: it may come from another realm. Threads that cannot share memory get a copy.
  if (
    !(isSharedArrayBuffer(buffer) || isArrayBuffer(buffer)) || bytes < 0 ||
    bytes > buffer.byteLength
  ) {
    throw new ProtocolError(`Placeholder record for ${bytes} bytes that its message lacks.`);
  }
  return buffer as SharedArrayBuffer;
}

/** The end of the message of an error if objects were to move. */
const MOVABLE =
  "; the list of what moves (transfer) takes ArrayBuffers, typed arrays, MessagePorts, streams and other " +
  "transferable objects";

export class PayloadMessages {
  readonly #port: PayloadPort;
  /** Messages received and not taken yet. */
  readonly #untaken = new Map<number, () => PayloadMessage>();
  /** Notices that were received with a payload. */
  readonly #notices: unknown[] = [];
  #posted = 0;
  #received = 0;

  constructor(port: PayloadPort) {
    this.#port = port;
  }

  /**
   * Posts a payload, moves the objects in `transfer`, and returns its number. Runs no user code. Throws
   * DataCloneError for objects that cannot be cloned or moved. Nothing was posted then.
   */
  post({ buffer, bytes, attachments }: Payload, transfer: readonly unknown[]): number {
    const message = buffer === undefined ? attachments : [...attachments, buffer];
    this.postOther(message, transfer, transfer.length > 0 ? MOVABLE : "", bytes);
    const sequence = this.#posted;
    this.#posted = (sequence + 1) | 0;
    return sequence;
  }

  /** Posts a message that belongs to no record. The other side waits for it in `takeOther`, or looks for it by `takeNotice`. */
  postOther(message: object, transfer: readonly unknown[], hint = "", bytes?: number): void {
    try {
      this.#port.post(message, transfer, bytes);
    } catch (error) {
      if (isStackOverflow(error)) throw error;
      // Ports throw errors of the runtime, which do not name the part.
      const text = `A part cannot be cloned or cannot be moved: ${textOf(error)}${hint}`;
      throw new DataCloneError(text, { cause: error });
    }
  }

  /** The message of `postOther` that is wanted, if it is there. Others are notices. Rethrows the error of deserializing it. */
  takeOther(isWanted: (message: unknown) => boolean): unknown {
    for (let next = this.#port.receive(); next !== undefined; next = this.#port.receive()) {
      const { message } = next;
      if (Array.isArray(message)) this.#keep(() => message);
      else if (message === undefined || isWanted(message)) return message;
      else this.#notices.push(message);
    }
    return undefined;
  }

  /** The next message that belongs to no record, which can always be deserialized. */
  takeNotice(): unknown {
    if (this.#notices.length > 0) return this.#notices.shift();
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (typeof next !== "function") return next.notice;
      this.#keep(next);
    }
    return undefined;
  }

  /** Whether message `sequence` has come, where messages come by events. */
  has(sequence: number): boolean {
    while (!this.#untaken.has(sequence)) {
      if (!this.#port.hasMessage!()) return false;
      this.#keep(this.#receive(sequence));
    }
    return true;
  }

  /** Message `sequence`. Throws DataCloneError if it could not be deserialized. */
  take(sequence: number): PayloadMessage {
    while (!this.#untaken.has(sequence)) this.#keep(this.#receive(sequence));
    const read = this.#untaken.get(sequence)!;
    this.#untaken.delete(sequence);
    return read();
  }

  /** Takes message `sequence` and drops it. Ports in it are closed, so that their other ends are notified. */
  discard(sequence: number): void {
    try {
      for (const part of this.take(sequence)) {
        if (typeof MessagePort === "function" && part instanceof MessagePort) part.close();
      }
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // A message that cannot be deserialized is dropped as well.
    }
  }

  close(): void {
    this.#port.close();
  }

  #keep(read: () => PayloadMessage): void {
    this.#untaken.set(this.#received, read);
    this.#received = (this.#received + 1) | 0;
  }

  /** Ports keep order: the next payload received is the next in sequence. */
  #receive(wanted: number): () => PayloadMessage {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (typeof next === "function") return next;
      this.#notices.push(next.notice);
    }
    throw new ProtocolError(`Payload message ${wanted} is missing from its port.`);
  }

  /** The next message: a payload, or a notice. Unreadable ones are payloads, and use up a number too. */
  #next(): (() => PayloadMessage) | { readonly notice: unknown } | undefined {
    let received: { readonly message: unknown } | undefined;
    try {
      received = this.#port.receive();
    } catch (cause) {
      return () => {
        const message = "The value could not be deserialized by the receiving thread.";
        throw new DataCloneError(message, { cause });
      };
    }
    if (received === undefined) return undefined;
    const { message } = received;
    // A thread that Node is ending receives undefined, whatever was posted.
    if (message === undefined) throw new ProtocolError("A payload message is no list.");
    return Array.isArray(message) ? () => message : { notice: message };
  }
}
