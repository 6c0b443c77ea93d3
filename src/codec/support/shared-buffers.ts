/**
 * The identity of SharedArrayBuffers across threads: a runtime makes a new object each time one
 * arrives in a message, so each gets a number from the side that sends it first, and a side that has
 * the object already takes that one. Nothing is kept alive by it.
 */
export class SharedBuffers {
  readonly #ids = new WeakMap<SharedArrayBuffer, number>();
  readonly #buffers = new Map<number, WeakRef<SharedArrayBuffer>>();
  /** By then the number may belong to an object that has arrived since. */
  readonly #collected = new FinalizationRegistry((id: number) => {
    if (this.#buffers.get(id)?.deref() === undefined) this.#buffers.delete(id);
  });
  readonly #origin: number;
  #next = 0;

  /** `origin`: a number of its own for each thread of a pool, below 2^20. */
  constructor(origin: number) {
    this.#origin = origin;
  }

  /** The number of `buffer`, wherever it is from. */
  idOf(buffer: SharedArrayBuffer): number {
    const known = this.#ids.get(buffer);
    if (known !== undefined) return known;
    const id = this.#origin * 2 ** 32 + this.#next++;
    this.#remember(id, buffer);
    return id;
  }

  /** The object this side has for number `id`, which is `arrived` if there is none. */
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
