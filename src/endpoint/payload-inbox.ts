/**
 * Receiving side of a payload port. A record in the ring names the message it stands for by sequence
 * number; the message was posted before the record was committed, so it is there when the record is.
 *
 * Messages that come before their record are kept by number. One that cannot be deserialized counts
 * as received and fails the record that asks for it, nothing else.
 */
import { DataCloneError, ProtocolError } from "../errors.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";

/** What is posted: the sequence number and the payload. */
export type PayloadMessage = readonly [sequence: number, payload: unknown];

interface Unreadable {
  readonly error: unknown;
}

export class PayloadInbox {
  readonly #port: PayloadPort;
  readonly #early = new Map<number, { readonly payload: unknown } | Unreadable>();
  #received = 0;

  constructor(port: PayloadPort) {
    this.#port = port;
  }

  /** The payload of message `sequence`. Throws DataCloneError if it could not be deserialized. */
  take(sequence: number): unknown {
    for (;;) {
      const early = this.#early.get(sequence);
      if (early !== undefined) {
        this.#early.delete(sequence);
        if ("payload" in early) return early.payload;
        throw new DataCloneError("The value could not be deserialized by the receiving thread.", {
          cause: early.error,
        });
      }
      this.#receive(sequence);
    }
  }

  #receive(wanted: number): void {
    const expected = this.#received;
    let received: { readonly message: unknown } | undefined;
    try {
      received = this.#port.receive();
    } catch (error) {
      // Ports keep order, so the one that failed is the next one in sequence.
      this.#received = (expected + 1) | 0;
      this.#early.set(expected, { error });
      return;
    }
    if (received === undefined) {
      throw new ProtocolError(`Payload message ${wanted} is missing from its port.`);
    }
    const [sequence, payload] = received.message as PayloadMessage;
    if (sequence !== expected) {
      throw new ProtocolError(`Payload message ${sequence} arrived in place of ${expected}.`);
    }
    this.#received = (expected + 1) | 0;
    this.#early.set(sequence, { payload });
  }
}
