/**
 * Objects sent in a separate message beside the encoded bytes: platform objects, shared memory and transferred
 * buffers. Encoded values refer to them by index.
 */
import { Set } from "../../builtins.ts";
import type { Departure } from "../../realm/handles.ts";

/**
 * Larger buffers are copied once and the copy is transferred through the port, while the ring would need
 * one copy in and another out. Up to this size the message costs more than the second copy.
 */
export const MAX_EMBEDDED_BYTES: number = 64 * 1024 - 1;

export class Attachments {
  readonly #objects: unknown[] = [];
  /** The attached objects that are transferred. */
  readonly #transfer: unknown[] = [];
  /** Objects to transfer when they occur in a value, and those already transferred. */
  #moving: Set<unknown> | undefined;
  #moved: Set<unknown> | undefined;
  #departures: Departure[] | undefined;
  /** Whether there is nothing to send or to transfer. Only this class writes it. */
  isEmpty = true;

  get objects(): readonly unknown[] {
    return this.#objects;
  }

  get count(): number {
    return this.#objects.length;
  }

  /** `isMoved`: it is transferred. */
  add(object: unknown, isMoved: boolean): void {
    this.isEmpty = false;
    this.#objects.push(object);
    if (isMoved) this.#transfer.push(object);
    if (this.#moving?.delete(object) === true) (this.#moved ??= new Set()).add(object);
  }

  /** A part counts as being on its way from here on. */
  depart(departure: Departure): void {
    this.isEmpty = false;
    (this.#departures ??= []).push(departure);
  }

  /** Those of a snapshot, whose owner has to end them. Undefined: there are none. */
  takeDepartures(): readonly Departure[] | undefined {
    const departures = this.#departures;
    this.#departures = undefined;
    return departures;
  }

  willMove(objects: readonly unknown[]): void {
    this.isEmpty = false;
    this.#moving ??= new Set();
    for (const object of objects) if (this.#moved?.has(object) !== true) this.#moving.add(object);
  }

  isMoving(object: unknown): boolean {
    return this.#moving?.has(object) === true;
  }

  /** Whether an object of the caller is transferred. The encoder's copies are transferred only for speed. */
  get movesOriginals(): boolean {
    return this.#moving !== undefined || this.#moved !== undefined;
  }

  /** All transferred objects that are part of a value. */
  get transfer(): readonly unknown[] {
    return this.#transfer;
  }

  /** Objects marked for transfer that are not part of any value. */
  get unused(): ReadonlySet<unknown> | undefined {
    return this.#moving;
  }

  /** Whether a transferred object is the caller's own, not a copy. */
  isOriginal(object: unknown): boolean {
    return this.#moved?.has(object) === true;
  }

  /** Continues with the attachments of values that were encoded before. */
  resume(objects: readonly unknown[], transfer: readonly unknown[]): void {
    this.#objects.push(...objects);
    this.#transfer.push(...transfer);
    this.isEmpty = this.#objects.length === 0 && this.#moving === undefined;
  }

  /** Drops all but the first `count`. */
  rewind(count: number): void {
    // The dropped objects may include copies of large buffers, which are at the end of the transfer list.
    while (this.#objects.length > count) {
      const left = this.#objects.pop();
      if (this.#transfer.at(-1) === left) this.#transfer.pop();
      // It is still to be transferred.
      if (this.#moved?.delete(left) === true) this.#moving!.add(left);
    }
    this.isEmpty = this.#objects.length === 0 && this.#moving === undefined;
  }

  clear(): void {
    this.isEmpty = true;
    for (const departure of this.takeDepartures() ?? []) departure.end(); // they were not sent
    if (this.#objects.length > 0) this.#objects.length = this.#transfer.length = 0;
    this.#moving = this.#moved = undefined;
  }
}
