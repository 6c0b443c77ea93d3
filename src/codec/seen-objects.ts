/**
 * The objects that a value consists of, in the order in which they were met: where each was written,
 * for references to it, and within which other, for the path of one that cannot be cloned.
 *
 * Most values are of few objects, which a loop compares with; more are searched by the engine, at a
 * third of a nanosecond each; many go into a Set, which takes 20 to 40 to tell whether one is new. If some come again
 * they are searched for, if many do, a Map takes over, which knows where each is.
 */
const FEW = 12;
const MANY = 96;
/** Searching for objects that come again may have taken so many looks for each of all objects, about what the Map takes. */
const LOOKS_EACH = 64;
/** Places that are kept for the next value; what one of more objects needed is given back. */
const KEPT = 4096;

export class SeenObjects {
  /** The object that is being written: an index, or -1. */
  current = -1;
  #count = 0;
  readonly #few: unknown[] = new Array<unknown>(FEW).fill(undefined);
  /** From index FEW on. */
  readonly #more: unknown[] = [];
  #positions = new Int32Array(MANY);
  #parents = new Int32Array(MANY);
  /** Those of `#more`. */
  #set: Set<unknown> | undefined;
  #looks = 0;
  #map: Map<unknown, number> | undefined;

  get count(): number {
    return this.#count;
  }

  /** Where `object` was written before, or -1: it is at `position` now, within the current one. */
  visit(object: unknown, position: number): number {
    const count = this.#count;
    const few = this.#few;
    const small = count < FEW ? count : FEW;
    for (let index = 0; index < small; index++) {
      if (few[index] === object) return this.#positions[index]!;
    }
    if (count < FEW) few[count] = object;
    else {
      const index = this.#add(object, count);
      if (index >= 0) return this.#positions[index]!;
      if (count === this.#positions.length) this.#resize(2 * count);
    }
    this.#positions[count] = position;
    this.#parents[count] = this.current;
    this.#count = count + 1;
    return -1;
  }

  /** The objects from the outermost to the current one. */
  chain(): unknown[] {
    const chain: unknown[] = [];
    for (let index = this.current; index >= 0; index = this.#parents[index]!) {
      chain.unshift(index < FEW ? this.#few[index] : this.#more[index - FEW]);
    }
    return chain;
  }

  /** Forgets the last object, which is the current one: the one around it is again. */
  dropLast(): void {
    const last = this.#count - 1;
    this.current = this.#parents[last]!;
    this.forget(last);
  }

  /** Forgets all but the first `count` objects. */
  forget(count: number): void {
    for (let index = count; index < this.#count && index < FEW; index++) {
      this.#few[index] = undefined;
    }
    if (this.#count > FEW) {
      // Before: taking them out one by one takes as long as putting them in.
      if (count <= MANY) {
        this.#set = this.#map = undefined;
        this.#looks = 0;
      }
      for (const object of this.#more.splice(Math.max(0, count - FEW))) {
        this.#set?.delete(object);
        this.#map?.delete(object);
      }
    }
    this.#count = count;
    if (this.#positions.length > KEPT && count <= KEPT) this.#resize(KEPT);
  }

  /** The index of an object that is no new one, or -1: it has been added. */
  #add(object: unknown, count: number): number {
    const more = this.#more;
    if (count < MANY) {
      const index = more.indexOf(object);
      if (index >= 0) return index + FEW;
    } else if (this.#map !== undefined) {
      const index = this.#map.get(object);
      if (index !== undefined) return index;
      this.#map.set(object, count);
    } else {
      const set = this.#set ??= new Set(more);
      const { size } = set;
      if (set.add(object).size === size) return this.#search(object, count);
    }
    more.push(object);
    return -1;
  }

  /** The index of an object that the Set has. */
  #search(object: unknown, count: number): number {
    const index = this.#more.indexOf(object) + FEW;
    this.#looks += index;
    if (this.#looks > LOOKS_EACH * count) {
      this.#map = this.#mapped();
      this.#set = undefined;
    }
    return index;
  }

  /** One by one: 4 to 15 % quicker, for a thousand objects, than from a list of pairs. */
  #mapped(): Map<unknown, number> {
    const map = new Map<unknown, number>();
    let index = FEW;
    for (const object of this.#more) map.set(object, index++);
    return map;
  }

  #resize(places: number): void {
    const positions = new Int32Array(places);
    const parents = new Int32Array(places);
    positions.set(this.#positions.subarray(0, this.#count));
    parents.set(this.#parents.subarray(0, this.#count));
    this.#positions = positions;
    this.#parents = parents;
  }
}
