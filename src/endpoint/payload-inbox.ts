/**
 * Receiving side of a payload port. A record in the ring names the message it stands for by sequence
 * number; the message was posted before the record was committed, so it is there when the record is.
 *
 * Messages that come before their record are kept by number. One that cannot be deserialized counts
 * as received and fails the record that asks for it, nothing else.
 */
import { DataCloneError, ProtocolError } from "../errors.ts";
import type { ObjectKinds, PayloadPort } from "../runtimes/runtime.ts";

/** What goes beside the record of held values, in a message of its own. */
export interface Payload {
  /** The encoded values, in its first `bytes` bytes; undefined if they are in the record. */
  readonly buffer: SharedArrayBuffer | undefined;
  readonly bytes: number;
  /** Objects that the encoded values refer to by index. */
  readonly extras: readonly unknown[];
}

/**
 * What is posted: the extras and behind them the buffer, if there is one. Nothing else, since each level and each
 * member costs when messages are made and read (a sixth of the time on Deno); the record says the rest.
 */
export type PayloadMessage = readonly unknown[];

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

interface Unreadable {
  readonly error: unknown;
}

export class PayloadInbox {
  readonly #port: PayloadPort;
  readonly #early = new Map<number, { readonly parts: PayloadMessage } | Unreadable>();
  #received = 0;

  constructor(port: PayloadPort) {
    this.#port = port;
  }

  /** Message `sequence`. Throws DataCloneError if it could not be deserialized. */
  take(sequence: number): PayloadMessage {
    for (;;) {
      const early = this.#early.get(sequence);
      if (early !== undefined) {
        this.#early.delete(sequence);
        if ("parts" in early) return early.parts;
        throw new DataCloneError("The value could not be deserialized by the receiving thread.", {
          cause: early.error,
        });
      }
      this.#receive(sequence);
    }
  }

  /** Ports keep order, so what comes is the next one in sequence, whether it can be read or not. */
  #receive(wanted: number): void {
    let received: { readonly message: unknown } | undefined;
    let early: { readonly parts: PayloadMessage } | Unreadable;
    try {
      received = this.#port.receive();
      if (received === undefined) {
        throw new ProtocolError(`Payload message ${wanted} is missing from its port.`);
      }
      const { message } = received;
      // A thread that Node is ending gets undefined, whatever was posted.
      if (!Array.isArray(message)) throw new ProtocolError(`Payload message ${wanted} is no list.`);
      early = { parts: message };
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      early = { error };
    }
    this.#early.set(this.#received, early);
    this.#received = (this.#received + 1) | 0;
  }
}
