/**
 * Buffers that callers have given away and that are at a lane's worker, or on their way there and back.
 *
 * Node's V8 counts the memory of buffers by thread, and collects garbage when a thread has 64 MiB more than it had
 * at its lowest since the last time. If many buffers leave together and come back, that is at every turn: a hundred
 * of 1 MiB there and back took 5 to 9 ms, nine tenths of it for the marking of live objects, and 1 ms with at most
 * eight of them away. So what is beyond a limit waits on the host, as calls do that find a ring full. Deno and Bun
 * do not mind, and copies, which are made anyway, gain nothing (`Runtime.mostMovedBytes`).
 *
 * Room is made by answers, and by a worker that waits for calls: its tasks are async, and keep what they were given
 * for as long as they like.
 */
import { bufferLength } from "../codec/intrinsics.ts";
import type { Held } from "../endpoint/hold.ts";
import type { ObjectKinds } from "../runtimes/runtime.ts";
import type { CallWatch } from "./in-flight.ts";

/** Calls with larger buffers: so that the worker has one to go on with. */
const LEAST_CALLS = 2;

/** What was sent since the worker last waited for calls, and is unanswered. */
class Batch implements CallWatch {
  calls = 0;
  bytes = 0;

  add(bytes: number): void {
    this.calls++;
    this.bytes += bytes;
  }

  /** A call is over; which of them does not matter, so each counts for the average. */
  onOver(): void {
    this.bytes -= this.bytes / this.calls;
    this.calls--;
  }
}

export class MovedBytes {
  readonly #most: number;
  readonly #isArrayBuffer: ObjectKinds["isArrayBuffer"];
  #batch = new Batch();

  constructor(most: number, isArrayBuffer: ObjectKinds["isArrayBuffer"]) {
    this.#most = most;
    this.#isArrayBuffer = isArrayBuffer;
  }

  /** What callers give away with these values, as far as it counts; none any more once it has been sent. */
  bytesOf({ transfer, mayKeep }: Held): number {
    let bytes = 0;
    if (mayKeep || this.#most === Infinity) return bytes;
    for (const object of transfer) {
      if (this.#isArrayBuffer(object)) bytes += bufferLength.call(object);
    }
    return bytes;
  }

  /** Whether buffers of so many bytes may go now. `isResting`: whether the worker waits for calls. */
  hasRoomFor(bytes: number, isResting: () => boolean): boolean {
    const batch = this.#batch;
    if (batch.calls < LEAST_CALLS || batch.bytes + bytes <= this.#most) return true;
    if (!isResting()) return false;
    this.#batch = new Batch();
    return true;
  }

  /** They have gone; returns what is to be told when their call is over. */
  add(bytes: number): CallWatch {
    this.#batch.add(bytes);
    return this.#batch;
  }
}
