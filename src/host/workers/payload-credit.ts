/**
 * How many bytes may be in messages that a worker has not taken: those of calls that wait in its ring, and of calls that
 * were given up there, whose messages stay in the port until the worker passes their records.
 *
 * Without a bound, calls made and given up behind a long one fill the memory. And Node's V8 collects garbage when a
 * thread has 64 MiB of buffers more than at its lowest since the last time: with a hundred buffers of 1 MiB away at once,
 * moved there and back, that is at every turn, nine tenths of it for the marking of live objects. What is beyond
 * the bound waits on the host, as calls do that find a ring full.
 */
import { bufferLength } from "../../codec/support/intrinsics.ts";
import type { Snapshot } from "../../lane/snapshot.ts";
import type { RingProducer } from "../../ring/producer.ts";
import type { ObjectKinds } from "../../runtimes/runtime.ts";

const MAX_BYTES: number = 8 * 2 ** 20;
/** However large they are: so that the worker has one to go on with. */
const MIN_MESSAGES = 2;
/** What a message takes besides. */
const MESSAGE_BYTES = 1024;

interface Message {
  /** Of its record. */
  readonly position: number;
  readonly bytes: number;
}

/** What there is in a message of these values, about; 0 if they need none. To be asked before it is posted. */
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
  /** Those that the worker has not taken, as far as is known, in order. */
  readonly #messages: Message[] = [];
  #bytes = 0;

  constructor(tx: Pick<RingProducer, "isBegun">) {
    this.#tx = tx;
  }

  /** Whether a message of so many bytes may be sent now. */
  hasRoomFor(bytes: number): boolean {
    if (this.#fits(bytes)) return true;
    this.#forgetTaken();
    return this.#fits(bytes);
  }

  /** A message was sent of which the record is at `position`. */
  sent(position: number, bytes: number): void {
    this.#messages.push({ position, bytes });
    this.#bytes += bytes;
  }

  #fits(bytes: number): boolean {
    return this.#messages.length < MIN_MESSAGES || this.#bytes + bytes <= MAX_BYTES;
  }

  /** A worker begins a call by taking its record and its message; a revoked record it only passes. */
  #forgetTaken(): void {
    let taken = 0;
    while (taken < this.#messages.length && this.#tx.isBegun(this.#messages[taken]!.position)) {
      this.#bytes -= this.#messages[taken++]!.bytes;
    }
    if (taken > 0) this.#messages.splice(0, taken);
  }
}
