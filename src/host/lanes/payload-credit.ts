/**
 * Payload credit: how many bytes may be in messages that a worker has not taken. These belong to calls that wait in
 * its ring, and to revoked calls, whose messages stay in the port until the worker passes their records.
 *
 * Without a bound, calls made and aborted behind a long one fill the memory. Node also starts a garbage collection when a thread's buffers exceed their minimum since the last collection
 * by 64 MiB. With a hundred 1 MiB buffers in flight in both directions, it collects in every turn of the event loop
 * and spends nine tenths of that time marking live objects. Calls beyond the bound wait on the host, as they do when the ring is full.
 */
import { bufferLength } from "../../codec/support/intrinsics.ts";
import type { Snapshot } from "../../lane/snapshot.ts";
import type { RingProducer } from "../../ring/producer.ts";
import type { ObjectKinds } from "../../runtimes/runtime.ts";

const MAX_BYTES: number = 8 * 2 ** 20;
/** Messages allowed regardless of size, so that a worker that finishes a call finds the next one in its ring. */
const MIN_MESSAGES = 2;
/** Overhead of a message. */
const MESSAGE_BYTES = 1024;

interface Message {
  /** Position of its record. */
  readonly position: number;
  readonly bytes: number;
}

/** Approximate bytes in the message of a snapshot; 0 if it needs none. Call this before posting: a moved buffer has length 0 afterwards. */
export function messageBytes({ payload }: Snapshot, { isArrayBuffer }: ObjectKinds): number {
  if (payload === undefined) return 0;
  let bytes = MESSAGE_BYTES + payload.bytes;
  for (const extra of payload.attachments) {
    if (isArrayBuffer(extra)) bytes += bufferLength.call(extra);
  }
  return bytes;
}

export class PayloadCredit {
  readonly #tx: Pick<RingProducer, "isBegun">;
  /** Messages not known to be taken, in order. */
  readonly #messages: Message[] = [];
  #bytes = 0;

  constructor(tx: Pick<RingProducer, "isBegun">) {
    this.#tx = tx;
  }

  /** Whether a message of `bytes` bytes may be sent now. */
  hasRoomFor(bytes: number): boolean {
    if (this.#fits(bytes)) return true;
    this.#forgetTaken();
    return this.#fits(bytes);
  }

  /** A message was sent; its record is at `position`. */
  sent(position: number, bytes: number): void {
    this.#messages.push({ position, bytes });
    this.#bytes += bytes;
  }

  #fits(bytes: number): boolean {
    return this.#messages.length < MIN_MESSAGES || this.#bytes + bytes <= MAX_BYTES;
  }

  /** A worker takes the message when it claims the record. It drops the message when it passes a revoked record. */
  #forgetTaken(): void {
    let taken = 0;
    while (taken < this.#messages.length && this.#tx.isBegun(this.#messages[taken]!.position)) {
      this.#bytes -= this.#messages[taken++]!.bytes;
    }
    if (taken > 0) this.#messages.splice(0, taken);
  }
}
