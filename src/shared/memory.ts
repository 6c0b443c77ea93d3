/**
 * The memory of one shared object: a buffer that grows, with views of what there is of it. Every object begins with
 *
 *   word 0   magic
 *   word 1   kind of the object (KINDS) | version << 8
 *   word 2   id of the root: which process, and which tree of threads, the tokens in it belong to
 *
 * Views have a fixed length, since those that follow a buffer's growth are slower; a thread makes new ones when it meets an offset beyond its own.
 */
import { SharedAccessError } from "../shared-errors.ts";
import { type Memory, viewMemory } from "../memory/views.ts";
import type { ThisThread } from "./threads/this-thread.ts";

const MAGIC = 0x6864_5348; // "HSdh"
const VERSION = 1;

/** Words that every object begins with. */
export const OBJECT_WORDS = 4;

/** Buffers of this size and more are growable, which are given back when nobody has them any more (measured-facts.md). */
const MIN_GROWABLE_BYTES = 2 ** 16;

/** What an object is. The order is part of the layout. */
export const KINDS = [
  "map",
  "mutex",
  "rwLock",
  "semaphore",
  "condition",
  "barrier",
  "waitGroup",
  "once",
  "event",
  "channel",
  "vector",
  "counter",
  "flag",
] as const;
export type Kind = (typeof KINDS)[number];

export class ObjectMemory {
  readonly buffer: SharedArrayBuffer;
  readonly thread: ThisThread;
  /** Of what this thread knows of the buffer: `reach` makes it more. */
  view: Memory;

  constructor(buffer: SharedArrayBuffer, thread: ThisThread) {
    this.buffer = buffer;
    this.thread = thread;
    this.view = viewMemory(buffer);
  }

  /** Memory for a new object. `maxBytes`: it may grow to that many. All are multiples of 8. */
  static create(
    kind: Kind,
    bytes: number,
    thread: ThisThread,
    maxBytes: number = bytes,
  ): ObjectMemory {
    // V8 does not count shared buffers of fixed size as memory: hundreds of dropped ones stay until something else is collected.
    const buffer = maxBytes > bytes || bytes >= MIN_GROWABLE_BYTES
      ? new SharedArrayBuffer(bytes, { maxByteLength: maxBytes })
      : new SharedArrayBuffer(bytes);
    const memory = new ObjectMemory(buffer, thread);
    memory.view.i32.set([MAGIC, KINDS.indexOf(kind) | (VERSION << 8), thread.root.id]);
    return memory;
  }

  /** Memory that another thread has made. */
  static adopt(kind: Kind, buffer: SharedArrayBuffer, thread: ThisThread): ObjectMemory {
    const memory = new ObjectMemory(buffer, thread);
    const { i32 } = memory.view;
    if (i32[0] !== MAGIC || i32[1] !== (KINDS.indexOf(kind) | (VERSION << 8))) {
      throw new SharedAccessError(`This buffer is no ${kind} of this version of heddle/shared.`);
    }
    if (i32[2] !== thread.root.id) {
      throw new SharedAccessError(
        `This ${kind} belongs to threads that share nothing with this one: all of them have to be of pools below one thread.`,
      );
    }
    return memory;
  }

  /** A view that reaches to `end`, in bytes. */
  reach(end: number): Memory {
    return end <= this.view.u8.length ? this.view : this.#renew();
  }

  /** Views of a part that never moves. */
  part(start: number, bytes: number): Memory {
    return viewMemory(this.buffer, start, bytes);
  }

  #renew(): Memory {
    return this.view = viewMemory(this.buffer);
  }

  /** Makes the buffer at least `bytes` long. Throws RangeError beyond its maximum, or if the system has no more. */
  grow(bytes: number): void {
    if (bytes > this.buffer.byteLength) this.buffer.grow(bytes);
    this.#renew();
  }
}
