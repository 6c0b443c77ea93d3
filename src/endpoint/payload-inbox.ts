/**
 * Receiving side of a payload port. A record in the ring names the message it stands for by sequence
 * number; the message was posted before the record was committed, so it is there when the record is.
 *
 * Messages that come before their record are kept by number. One that cannot be deserialized counts
 * as received and fails the record that asks for it, nothing else.
 */
import { DataCloneError, ProtocolError } from "../errors.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";

/** What a message brings for its record. */
export interface Payload {
  /** The encoded values, in its first `bytes` bytes; undefined if they are in the record. */
  readonly buffer: SharedArrayBuffer | undefined;
  readonly bytes: number;
  /** Objects that the encoded values refer to by index. */
  readonly extras: readonly unknown[];
}

/** What is posted. An array: on every runtime the cheapest to clone. */
export type PayloadMessage = readonly [
  sequence: number,
  buffer: SharedArrayBuffer | undefined,
  bytes: number,
  extras: readonly unknown[],
];

interface Unreadable {
  readonly error: unknown;
}

export class PayloadInbox {
  readonly #port: PayloadPort;
  readonly #early = new Map<number, { readonly payload: Payload } | Unreadable>();
  #received = 0;

  constructor(port: PayloadPort) {
    this.#port = port;
  }

  /** The payload of message `sequence`. Throws DataCloneError if it could not be deserialized. */
  take(sequence: number): Payload {
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
    const [sequence, buffer, bytes, extras] = received.message as PayloadMessage;
    if (sequence !== expected) {
      throw new ProtocolError(`Payload message ${sequence} arrived in place of ${expected}.`);
    }
    this.#received = (expected + 1) | 0;
    this.#early.set(sequence, { payload: { buffer, bytes, extras } });
  }
}
