/**
 * Both sides of a payload port: the messages that records in the ring stand for, by sequence number.
 *
 * A message is posted before its record is committed, so it is there when the record is seen. Messages that come before
 * their record are kept by number. One that cannot be deserialized counts as received and fails the record that
 * asks for it, nothing else.
 */
import { isStackOverflow, textOf } from "../codec/kinds/errors.ts";
import { DataCloneError, ProtocolError } from "../errors.ts";
import type { ObjectKinds, PayloadPort } from "../runtimes/runtime.ts";

/** What goes beside the record of held values, in a message of its own. */
export interface Payload {
  /** The encoded values, in its first `bytes` bytes; undefined if they are in the record. */
  readonly buffer: SharedArrayBuffer | undefined;
  readonly bytes: number;
  /** Objects that the encoded values refer to by index. */
  readonly attachments: readonly unknown[];
}

/**
 * What is posted: the extras and behind them the buffer, if there is one. Nothing else, since each level and each
 * member costs when messages are made and read (a sixth of the time on Deno); the record says the rest.
 */
type PayloadMessage = readonly unknown[];

/** The buffer in a message whose record says that it has so many bytes of encoded values. */
export function bufferOf(
  parts: PayloadMessage,
  bytes: number,
  { isSharedArrayBuffer }: ObjectKinds,
): SharedArrayBuffer {
  const buffer = parts[parts.length - 1];
  // Of another realm perhaps: ports deserialize in the thread's own.
  if (!isSharedArrayBuffer(buffer) || bytes < 0 || bytes > buffer.byteLength) {
    throw new ProtocolError(`Placeholder record for ${bytes} bytes that its message lacks.`);
  }
  return buffer;
}

export class PayloadMessages {
  readonly #port: PayloadPort;
  /** Received, and not taken yet. */
  readonly #early = new Map<number, () => PayloadMessage>();
  #posted = 0;
  #received = 0;

  constructor(port: PayloadPort) {
    this.#port = port;
  }

  /**
   * Posts a payload, of which `transfer` moves, and returns its number. Runs no code of the user's. Throws DataCloneError
   * for what cannot be cloned or moved; nothing was posted then.
   */
  post({ buffer, attachments }: Payload, transfer: readonly unknown[]): number {
    try {
      this.#port.post(buffer === undefined ? attachments : [...attachments, buffer], transfer);
    } catch (error) {
      if (isStackOverflow(error)) throw error;
      // Ports refuse in errors of the runtime's own, which name no part.
      throw new DataCloneError(`A part cannot be cloned or cannot be moved: ${textOf(error)}`, {
        cause: error,
      });
    }
    const sequence = this.#posted;
    this.#posted = (sequence + 1) | 0;
    return sequence;
  }

  /** Message `sequence`. Throws DataCloneError if it could not be deserialized. */
  take(sequence: number): PayloadMessage {
    for (;;) {
      const early = this.#early.get(sequence);
      if (early !== undefined) {
        this.#early.delete(sequence);
        return early();
      }
      this.#early.set(this.#received, this.#receive(sequence));
      this.#received = (this.#received + 1) | 0;
    }
  }

  /** Takes message `sequence` for nobody: ports in it are closed, so that their other ends hear of it. */
  discard(sequence: number): void {
    try {
      for (const part of this.take(sequence)) {
        if (typeof MessagePort === "function" && part instanceof MessagePort) part.close();
      }
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // What cannot be deserialized is dropped as well.
    }
  }

  close(): void {
    this.#port.close();
  }

  /** Ports keep order, so what comes is the next one in sequence, whether it can be read or not. */
  #receive(wanted: number): () => PayloadMessage {
    let received: { readonly message: unknown } | undefined;
    try {
      received = this.#port.receive();
    } catch (cause) {
      return () => {
        const what = "The value could not be deserialized by the receiving thread.";
        throw new DataCloneError(what, { cause });
      };
    }
    if (received === undefined) {
      throw new ProtocolError(`Payload message ${wanted} is missing from its port.`);
    }
    const { message } = received;
    // A thread that Node is ending gets undefined, whatever was posted.
    if (!Array.isArray(message)) throw new ProtocolError(`Payload message ${wanted} is no list.`);
    return () => message;
  }
}
