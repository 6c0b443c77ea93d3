/**
 * What goes beside the encoded bytes, in a message of its own: objects of the platform, shared memory,
 * buffers that move. Encoded values refer to them by their index.
 */
import type { WriterMark } from "../writer.ts";

export class Attachments {
  readonly #objects: unknown[] = [];
  /** Those among them that move. */
  readonly #transfer: unknown[] = [];
  /** What is to move wherever it comes, and what does already. */
  #moving: Set<unknown> | undefined;
  #moved: Set<unknown> | undefined;

  get objects(): readonly unknown[] {
    return this.#objects;
  }

  get count(): number {
    return this.#objects.length;
  }

  /** Whether there is nothing to be sent, or to be moved. */
  get isEmpty(): boolean {
    return this.#objects.length === 0 && this.#moving === undefined;
  }

  add(object: unknown, isMoved: boolean): void {
    this.#objects.push(object);
    if (isMoved) this.#transfer.push(object);
  }

  willMove(objects: readonly unknown[]): void {
    this.#moving ??= new Set();
    for (const object of objects) if (this.#moved?.has(object) !== true) this.#moving.add(object);
  }

  isMoving(object: unknown): boolean {
    return this.#moving?.has(object) === true;
  }

  /** Adds an object that was to move. */
  move(object: unknown): void {
    this.#moving!.delete(object);
    (this.#moved ??= new Set()).add(object);
    this.add(object, true);
  }

  /** Whether something of the caller's own moves; our copies do so for speed alone. */
  get movesOriginals(): boolean {
    return this.#moving !== undefined || this.#moved !== undefined;
  }

  /** All that moves and is part of a value. */
  get transfer(): readonly unknown[] {
    return this.#transfer;
  }

  /** What was to move but is part of no value. */
  get unused(): ReadonlySet<unknown> | undefined {
    return this.#moving;
  }

  /** Whether an object that moves is the caller's own, and no copy. */
  isOriginal(object: unknown): boolean {
    return this.#moved?.has(object) === true;
  }

  /** Takes over those of values that were encoded before. */
  resume(objects: readonly unknown[], transfer: readonly unknown[]): void {
    this.#objects.push(...objects);
    this.#transfer.push(...transfer);
  }

  /** Back to as many as there were. */
  rewind({ attachments }: WriterMark): void {
    // Copies of large buffers may be among those left out: what moves is the end of the list.
    while (this.#objects.length > attachments) {
      const left = this.#objects.pop();
      if (this.#transfer.at(-1) === left) this.#transfer.pop();
      // It moves all the same.
      if (this.#moved?.delete(left) === true) this.#moving!.add(left);
    }
  }

  clear(): void {
    if (this.#objects.length > 0) this.#objects.length = this.#transfer.length = 0;
    this.#moving = this.#moved = undefined;
  }
}
