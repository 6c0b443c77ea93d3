import { FinalizationRegistry, Map, WeakMap, WeakRef } from "../../builtins.ts";

/**
 * The identity of SharedArrayBuffers across threads. A runtime creates a new object each time one arrives
 * in a message, so the first sender assigns an id, and a receiver reuses its existing object for that id.
 * References are weak.
 */
export class SharedBuffers {
  readonly #ids = new WeakMap<SharedArrayBuffer, number>();
  readonly #buffers = new Map<number, WeakRef<SharedArrayBuffer>>();
  /** Removes ids of collected objects. By then the id may belong to an object that has arrived since. */
  readonly #collected = new FinalizationRegistry((id: number) => {
    if (this.#buffers.get(id)?.deref() === undefined) this.#buffers.delete(id);
  });
  readonly #origin: number;
  #next = 0;

  /** `origin`: a unique number for each thread of a pool, below 2^20. */
  constructor(origin: number) {
    this.#origin = origin;
  }

  /** The id of `buffer`, created in any thread. */
  idOf(buffer: SharedArrayBuffer): number {
    const known = this.#ids.get(buffer);
    if (known !== undefined) return known;
    const id = this.#origin * 2 ** 32 + this.#next++;
    this.#remember(id, buffer);
    return id;
  }

  /** This side's object for `id`; `arrived` becomes that object if there is none. */
  adopt(id: number, arrived: SharedArrayBuffer): SharedArrayBuffer {
    const known = this.#buffers.get(id)?.deref();
    if (known !== undefined) return known;
    this.#remember(id, arrived);
    return arrived;
  }

  #remember(id: number, buffer: SharedArrayBuffer): void {
    this.#ids.set(buffer, id);
    this.#buffers.set(id, new WeakRef(buffer));
    this.#collected.register(buffer, id);
  }
}
