/**
 * Messages whose calls were taken back before their worker got to them. The record is room again at once for the load of
 * the lane, but what its message carries stays in the worker's port until the worker passes the record, which may be
 * behind a long call: calls that are made and given up all the while would fill the memory. So beyond some bytes
 * further messages wait on the host, where they are counted and dropped when their calls are over.
 */
import { bufferLength } from "../codec/intrinsics.ts";
import type { Held } from "../endpoint/hold.ts";
import type { RingProducer } from "../ring/producer.ts";
import type { ObjectKinds } from "../runtimes/runtime.ts";

const MOST_BYTES = 64 * 2 ** 20;
/** What a message takes besides. */
const MESSAGE_BYTES = 1024;

interface Message {
  /** Of its record. */
  readonly position: number;
  readonly bytes: number;
  isRevoked: boolean;
}

/** What there is in a message of these values, about; 0 if they need none. To be asked before it is posted. */
export function messageBytes({ payload }: Held, { isArrayBuffer }: ObjectKinds): number {
  if (payload === undefined) return 0;
  let bytes = MESSAGE_BYTES + payload.bytes;
  for (const extra of payload.extras) if (isArrayBuffer(extra)) bytes += bufferLength.call(extra);
  return bytes;
}

export class RevokedMessages {
  readonly #tx: Pick<RingProducer, "isReleased">;
  /** Those that the worker has not passed, in order. */
  readonly #sent: Message[] = [];
  #revokedBytes = 0;

  constructor(tx: Pick<RingProducer, "isReleased">) {
    this.#tx = tx;
  }

  /** Whether further messages have to wait. */
  get areTooMany(): boolean {
    if (this.#revokedBytes <= MOST_BYTES) return false;
    this.#forgetPassed();
    return this.#revokedBytes > MOST_BYTES;
  }

  /** A message was sent of which the record is at `position`, and which may be taken back. */
  sent(position: number, bytes: number): void {
    this.#forgetPassed();
    this.#sent.push({ position, bytes, isRevoked: false });
  }

  /** The record at `position` was taken back, if it is one with a message. */
  revoked(position: number): void {
    const message = this.#sent.find((one) => one.position === position);
    if (message === undefined || message.isRevoked) return;
    message.isRevoked = true;
    this.#revokedBytes += message.bytes;
  }

  #forgetPassed(): void {
    let passed = 0;
    while (passed < this.#sent.length && this.#tx.isReleased(this.#sent[passed]!.position)) {
      const { isRevoked, bytes } = this.#sent[passed++]!;
      if (isRevoked) this.#revokedBytes -= bytes;
    }
    if (passed > 0) this.#sent.splice(0, passed);
  }
}
