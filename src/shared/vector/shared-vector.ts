/** Vectors of numbers that grow, and counters. */
import { JSON, RangeError } from "../../builtins.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { SharedMemoryFullError } from "../../shared-errors.ts";
import { registerHandle, SharedObject } from "../handles.ts";
import { OBJECT_WORDS, ObjectMemory } from "../memory.ts";
import { thisThread } from "../threads/this-thread.ts";

/*
 *   word 4   length     in elements; grows by compare-exchange, never shrinks
 *   word 5   type       index in TYPES; written once
 *   word 6   maximum    f64, elements; written once
 *   word 32  elements
 */
const LENGTH = OBJECT_WORDS;
const TYPE = 5;
const MAXIMUM_F64 = 3;
const START_BYTES = 128;

interface Types {
  readonly i8: Int8ArrayConstructor;
  readonly u8: Uint8ArrayConstructor;
  readonly u8clamped: Uint8ClampedArrayConstructor;
  readonly i16: Int16ArrayConstructor;
  readonly u16: Uint16ArrayConstructor;
  readonly i32: Int32ArrayConstructor;
  readonly u32: Uint32ArrayConstructor;
  readonly f32: Float32ArrayConstructor;
  readonly f64: Float64ArrayConstructor;
  readonly i64: BigInt64ArrayConstructor;
  readonly u64: BigUint64ArrayConstructor;
}

const TYPES: Types = {
  i8: Int8Array,
  u8: Uint8Array,
  u8clamped: Uint8ClampedArray,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
};

/** The types of elements. */
export type ElementType = keyof Types;
const NAMES = Object.keys(TYPES) as readonly ElementType[];

type Elements<T extends ElementType> = InstanceType<Types[T]>;
type Shared<T extends ElementType> = T extends "i8" ? Int8Array<SharedArrayBuffer>
  : T extends "u8" ? Uint8Array<SharedArrayBuffer>
  : T extends "u8clamped" ? Uint8ClampedArray<SharedArrayBuffer>
  : T extends "i16" ? Int16Array<SharedArrayBuffer>
  : T extends "u16" ? Uint16Array<SharedArrayBuffer>
  : T extends "i32" ? Int32Array<SharedArrayBuffer>
  : T extends "u32" ? Uint32Array<SharedArrayBuffer>
  : T extends "f32" ? Float32Array<SharedArrayBuffer>
  : T extends "f64" ? Float64Array<SharedArrayBuffer>
  : T extends "i64" ? BigInt64Array<SharedArrayBuffer>
  : BigUint64Array<SharedArrayBuffer>;
/** A number, or a bigint for elements of 64 bits that are integers. */
export type Element<T extends ElementType> = T extends "i64" | "u64" ? bigint : number;

/** Options of a {@link SharedVector}. */
export interface SharedVectorOptions {
  /** Elements at the start, all 0. @default 0 */
  readonly length?: number;
  /** Elements at most, up to 2 ** 34 bytes; memory is taken from the system as the vector grows. @default length, or 2 ** 20 */
  readonly maxLength?: number;
}

function createVector(type: ElementType, options: SharedVectorOptions): ObjectMemory {
  if (!NAMES.includes(type)) {
    throw new InvalidArgumentError(
      `The elements of a shared vector are ${JSON.stringify(type)}: they have to be one of ${
        NAMES.join(", ")
      }.`,
    );
  }
  const { length = 0 } = options;
  const { maxLength = options.length ?? 2 ** 20 } = options;
  const bytesEach = TYPES[type].BYTES_PER_ELEMENT;
  checkCount("maxLength", maxLength, Math.min(2 ** 34 / bytesEach, 2 ** 31 - 1));
  checkCount("length", length, maxLength);
  const memory = ObjectMemory.create(
    "vector",
    START_BYTES + roundUp(length * bytesEach),
    thisThread(),
    START_BYTES + roundUp(maxLength * bytesEach),
  );
  memory.view.i32[LENGTH] = length;
  memory.view.i32[TYPE] = NAMES.indexOf(type);
  memory.view.f64[MAXIMUM_F64] = maxLength;
  return memory;
}

function checkCount(name: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= most) return;
  throw new InvalidArgumentError(
    `${name} is ${String(value)}: it has to be a whole number from 0 to ${most}.`,
  );
}

const roundUp = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** A growable array of numbers in shared memory. Plain reads and writes are as fast as those of a typed array; `atomic` orders them between threads. */
export class SharedVector<T extends ElementType = "f64"> extends SharedObject {
  readonly #type: T;
  readonly #maxLength: number;
  readonly #memory: ObjectMemory;
  #view: Elements<T>;
  #atomic: AtomicElements<T> | undefined;

  /** A new vector of elements of this type. Pass it in an argument, or name it: `shared.vector(name, type, options)`. */
  constructor(type: T | ObjectMemory, options: SharedVectorOptions = {}) {
    const memory = type instanceof ObjectMemory ? type : createVector(type, options);
    super("vector", memory);
    this.#memory = memory;
    this.#type = NAMES[memory.view.i32[TYPE]!] as T;
    this.#maxLength = memory.view.f64[MAXIMUM_F64]!;
    this.#view = this.#createView();
  }

  #createView(): Elements<T> {
    const Type = TYPES[this.type];
    const room = Math.floor(
      (this.#memory.buffer.byteLength - START_BYTES) / Type.BYTES_PER_ELEMENT,
    );
    // The declared constructors know no shared memory.
    const buffer = this.#memory.buffer as unknown as ArrayBuffer;
    return new Type(buffer, START_BYTES, room) as unknown as Elements<T>;
  }

  /** The type of its elements. */
  get type(): T {
    return this.#type;
  }

  /** Elements that it holds at most. */
  get maxLength(): number {
    return this.#maxLength;
  }

  /** Number of elements. */
  get length(): number {
    return Atomics.load(this.#memory.view.i32, LENGTH);
  }

  /** The element at `index`, from the end if negative; undefined beyond. */
  at(index: number): Element<T> | undefined {
    const { length } = this;
    const whole = Math.trunc(index);
    const at = whole < 0 ? length + whole : whole;
    return at < 0 || at >= length ? undefined : this.#upTo(at)[at] as Element<T>;
  }

  /** Sets the element at `index`. Throws RangeError beyond the length. */
  set(index: number, value: Element<T>): void {
    if (!(Number.isInteger(index) && index >= 0 && index < this.length)) {
      throw new RangeError(`Index ${index} of a shared vector of ${this.length} elements.`);
    }
    (this.#upTo(index) as unknown as Element<T>[])[index] = value;
  }

  /**
   * Adds elements at the end; returns the index of the first. Several threads get different places; another thread may see the length before the
   * values. Throws SharedMemoryFullError beyond `maxLength`.
   */
  push(...values: Element<T>[]): number {
    const takesBigInts = this.#type === "i64" || this.#type === "u64";
    for (const value of values) {
      if (takesBigInts ? typeof value === "bigint" : typeof value === "number") continue;
      throw new InvalidArgumentError(
        `A ${typeof value} in a shared vector of ${this.#type}: it takes a ${
          takesBigInts ? "bigint" : "number"
        }.`,
      );
    }
    const start = this.grow(values.length);
    const view = this.#upTo(start + values.length - 1) as unknown as Element<T>[];
    for (let index = 0; index < values.length; index++) view[start + index] = values[index]!;
    return start;
  }

  /** Adds `count` elements, all 0; returns the index of the first. */
  grow(count: number): number {
    checkCount("The number of elements", count, 2 ** 31 - 1);
    this.#memory.thread.checkLife();
    const { i32 } = this.#memory.view;
    for (;;) {
      const length = Atomics.load(i32, LENGTH);
      const wanted = length + count;
      if (wanted > this.maxLength) {
        throw new SharedMemoryFullError(
          `${count} elements more than ${length} exceed the maxLength of ${this.maxLength}. Nothing was changed.`,
        );
      }
      this.#reserve(wanted);
      if (Atomics.compareExchange(i32, LENGTH, length, wanted) === length) return length;
    }
  }

  /** Makes room for `length` elements and some more, since growing takes a system call. */
  #reserve(length: number): void {
    const { buffer } = this.#memory;
    const bytesEach = TYPES[this.type].BYTES_PER_ELEMENT;
    const needed = START_BYTES + roundUp(length * bytesEach);
    while (buffer.byteLength < needed) {
      const most = START_BYTES + roundUp(this.maxLength * bytesEach);
      const wanted = Math.min(
        most,
        Math.max(needed, Math.ceil(buffer.byteLength * 1.5 / 4096) * 4096),
      );
      try {
        buffer.grow(wanted);
      } catch (error) {
        // Another thread may have made it larger than that.
        if (buffer.byteLength < needed) throw error;
      }
    }
  }

  /** The elements from `start` to `end` as a typed array over the same memory, without a copy. */
  view(start = 0, end: number = this.length): Shared<T> {
    const { length } = this;
    if (
      !(Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start <= end &&
        end <= length)
    ) {
      throw new RangeError(`Elements ${start} to ${end} of a shared vector of ${length}.`);
    }
    return this.#upTo(end - 1).subarray(start, end) as unknown as Shared<T>;
  }

  /** Atomic operations on the elements; of integers only. */
  get atomic(): AtomicElements<T> {
    if (this.type === "f32" || this.type === "f64" || this.type === "u8clamped") {
      throw new InvalidArgumentError(
        `Elements of the type ${this.type} have no atomic operations.`,
      );
    }
    return this.#atomic ??= new AtomicElements<T>((index) => {
      if (!(Number.isInteger(index) && index >= 0 && index < this.length)) {
        throw new RangeError(`Index ${index} of a shared vector of ${this.length} elements.`);
      }
      return this.#upTo(index) as unknown as Int32Array;
    });
  }

  /** The elements that are there now, in order. */
  *[Symbol.iterator](): Generator<Element<T>, void, undefined> {
    for (let index = 0; index < this.length; index++) yield this.#upTo(index)[index] as Element<T>;
  }

  #upTo(index: number): Elements<T> {
    if (index >= this.#view.length) this.#view = this.#createView();
    return this.#view;
  }
}

/** Atomic operations on the elements of a {@link SharedVector}: each happens as a whole, in one order for all threads. Each returns the old value, as `Atomics` does. */
export class AtomicElements<T extends ElementType> {
  readonly #viewOf: (index: number) => Int32Array;

  /** @internal */
  constructor(viewOf: (index: number) => Int32Array) {
    this.#viewOf = viewOf;
  }

  /** The value. */
  load(index: number): Element<T> {
    return Atomics.load(this.#viewOf(index), index) as Element<T>;
  }

  /** Sets it; returns the new value. */
  store(index: number, value: Element<T>): Element<T> {
    return Atomics.store(this.#viewOf(index), index, value as number) as Element<T>;
  }

  /** Adds to it. */
  add(index: number, value: Element<T>): Element<T> {
    return Atomics.add(this.#viewOf(index), index, value as number) as Element<T>;
  }

  /** Subtracts from it. */
  sub(index: number, value: Element<T>): Element<T> {
    return Atomics.sub(this.#viewOf(index), index, value as number) as Element<T>;
  }

  /** Bitwise and. */
  and(index: number, value: Element<T>): Element<T> {
    return Atomics.and(this.#viewOf(index), index, value as number) as Element<T>;
  }

  /** Bitwise or. */
  or(index: number, value: Element<T>): Element<T> {
    return Atomics.or(this.#viewOf(index), index, value as number) as Element<T>;
  }

  /** Bitwise exclusive or. */
  xor(index: number, value: Element<T>): Element<T> {
    return Atomics.xor(this.#viewOf(index), index, value as number) as Element<T>;
  }

  /** Replaces it. */
  exchange(index: number, value: Element<T>): Element<T> {
    return Atomics.exchange(this.#viewOf(index), index, value as number) as Element<T>;
  }

  /** Replaces it if it is `expected`. */
  compareExchange(index: number, expected: Element<T>, value: Element<T>): Element<T> {
    const view = this.#viewOf(index);
    return Atomics.compareExchange(view, index, expected as number, value as number) as Element<T>;
  }
}

/** A whole number that threads add to: 64 bits, exact up to 2 ** 53. */
export class AtomicCounter extends SharedObject {
  readonly #cell: BigInt64Array<SharedArrayBuffer>;

  /** A new counter. Pass it in an argument, or name it: `shared.counter(name)`. */
  constructor(start: number | ObjectMemory = 0) {
    let memory = start;
    if (!(memory instanceof ObjectMemory)) {
      memory = ObjectMemory.create("counter", 8 * 16, thisThread());
      memory.view.i64[COUNTER] = toBigInt(start as number);
    }
    super("counter", memory);
    this.#cell = memory.view.i64;
  }

  /** What it is now. */
  get value(): number {
    return Number(Atomics.load(this.#cell, COUNTER));
  }

  /** Sets it. */
  set value(value: number) {
    Atomics.store(this.#cell, COUNTER, toBigInt(value));
  }

  /** Adds to it; returns the new value. */
  add(count = 1): number {
    const by = toBigInt(count);
    return Number(Atomics.add(this.#cell, COUNTER, by) + by);
  }

  /** Replaces it if it is `expected`. Whether it was. */
  replace(expected: number, value: number): boolean {
    const wanted = toBigInt(expected);
    return Atomics.compareExchange(this.#cell, COUNTER, wanted, toBigInt(value)) === wanted;
  }
}

/** Index in the view of 64-bit words. */
const COUNTER = 8;

function toBigInt(value: number): bigint {
  if (!Number.isSafeInteger(value)) {
    throw new InvalidArgumentError(
      `A counter counts whole numbers up to 2 ** 53, not ${String(value)}.`,
    );
  }
  return BigInt(value);
}

registerHandle("vector", (memory) => new SharedVector(memory));
registerHandle("counter", (memory) => new AtomicCounter(memory));
