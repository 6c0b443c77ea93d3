/** Vectors of numbers that grow, and counters. */
import { RangeError } from "../../builtins.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, invalid, show } from "../../option-checks.ts";
import { checkOptions, NO_OPTIONS } from "../given.ts";
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
  /** Elements at most, up to 2 ** 34 bytes; memory is taken from the system as the vector grows. @default length, or 2 ** 20 if that is 0 */
  readonly maxLength?: number;
}

/** The options with their defaults. Throws InvalidArgumentError. */
export function vectorOptions(
  owner: string,
  type: ElementType,
  options: SharedVectorOptions,
): Required<SharedVectorOptions> & { readonly type: ElementType } {
  if (!NAMES.includes(type)) {
    throw invalid("The type of the elements", `one of ${NAMES.join(", ")}`, show(type));
  }
  checkOptions(owner, options, ["length", "maxLength"]);
  const most = Math.min(2 ** 34 / TYPES[type].BYTES_PER_ELEMENT, 2 ** 31 - 1);
  const { length = 0 } = options;
  checkInteger("length", length, 0, most);
  const { maxLength = length === 0 ? 2 ** 20 : length } = options;
  checkInteger("maxLength", maxLength, length, most);
  return { type, length, maxLength };
}

function createVector(type: ElementType, options: SharedVectorOptions): ObjectMemory {
  const { length, maxLength } = vectorOptions("new SharedVector()", type, options);
  const bytesEach = TYPES[type].BYTES_PER_ELEMENT;
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

const roundUp = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** A growable array of numbers in shared memory. Plain reads and writes are as fast as those of a typed array; `atomic` orders them between threads. */
export class SharedVector<T extends ElementType = "f64"> extends SharedObject {
  readonly #type: T;
  readonly #maxLength: number;
  readonly #memory: ObjectMemory;
  readonly #takesBigInts: boolean;
  #view: Elements<T>;
  #atomic: AtomicElements<T> | undefined;

  /** A new vector of elements of this type. Pass it in an argument, or name it: `shared.vector(name, type, options)`. */
  constructor(type: T | ObjectMemory, options: SharedVectorOptions = NO_OPTIONS) {
    const memory = type instanceof ObjectMemory ? type : createVector(type, options);
    super("vector", memory);
    this.#memory = memory;
    this.#type = NAMES[memory.view.i32[TYPE]!] as T;
    this.#takesBigInts = this.#type === "i64" || this.#type === "u64";
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

  /**
   * Sets the element at `index`. Numbers that the type does not hold wrap as in a typed array. Throws RangeError beyond the length, and
   * InvalidArgumentError for what is no number, or no bigint in elements of 64 bits that are integers.
   */
  set(index: number, value: Element<T>): void {
    this.#checkIndex(index);
    if (this.#takesBigInts ? typeof value !== "bigint" : typeof value !== "number") {
      throw this.#wrongKind(value);
    }
    (this.#upTo(index) as unknown as Element<T>[])[index] = value;
  }

  /**
   * Adds elements at the end; returns the index of the first. Several threads get different places; another thread may see the length before the
   * values. Throws SharedMemoryFullError beyond `maxLength`.
   */
  push(...values: Element<T>[]): number {
    for (const value of values) {
      if (this.#takesBigInts ? typeof value === "bigint" : typeof value === "number") continue;
      throw this.#wrongKind(value);
    }
    const start = this.grow(values.length);
    const view = this.#upTo(start + values.length - 1) as unknown as Element<T>[];
    for (let index = 0; index < values.length; index++) view[start + index] = values[index]!;
    return start;
  }

  /** Adds `count` elements, all 0; returns the index of the first. */
  grow(count: number): number {
    checkInteger("The number of elements", count, 0, 2 ** 31 - 1);
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
      throw new RangeError(
        `Elements ${show(start)} to ${show(end)} of a shared vector of ${length}.`,
      );
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
    return this.#atomic ??= new AtomicElements<T>((index, value) => {
      this.#checkIndex(index);
      if (this.#takesBigInts ? typeof value !== "bigint" : typeof value !== "number") {
        throw this.#wrongKind(value);
      }
      return this.#upTo(index) as unknown as Int32Array;
    }, (this.#takesBigInts ? 0n : 0) as Element<T>);
  }

  #checkIndex(index: number): void {
    if (Number.isInteger(index) && index >= 0 && index < this.length) return;
    throw new RangeError(`Index ${show(index)} of a shared vector of ${this.length} elements.`);
  }

  #wrongKind(value: unknown): InvalidArgumentError {
    return new InvalidArgumentError(
      `${show(value)} in a shared vector of ${this.#type}: it takes a ${
        this.#takesBigInts ? "bigint" : "number"
      }.`,
    );
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
  /** The view that has the element. Throws for an index beyond the length, and for a value of a wrong kind. */
  readonly #viewOf: (index: number, value: Element<T>) => Int32Array;
  readonly #zero: Element<T>;

  /** @internal `zero`: any value of the right kind. */
  constructor(viewOf: (index: number, value: Element<T>) => Int32Array, zero: Element<T>) {
    this.#viewOf = viewOf;
    this.#zero = zero;
  }

  /** The value. */
  load(index: number): Element<T> {
    return Atomics.load(this.#viewOf(index, this.#zero), index) as Element<T>;
  }

  /** Sets it; returns the new value. */
  store(index: number, value: Element<T>): Element<T> {
    return Atomics.store(this.#viewOf(index, value), index, value as number) as Element<T>;
  }

  /** Adds to it. */
  add(index: number, value: Element<T>): Element<T> {
    return Atomics.add(this.#viewOf(index, value), index, value as number) as Element<T>;
  }

  /** Subtracts from it. */
  sub(index: number, value: Element<T>): Element<T> {
    return Atomics.sub(this.#viewOf(index, value), index, value as number) as Element<T>;
  }

  /** Bitwise and. */
  and(index: number, value: Element<T>): Element<T> {
    return Atomics.and(this.#viewOf(index, value), index, value as number) as Element<T>;
  }

  /** Bitwise or. */
  or(index: number, value: Element<T>): Element<T> {
    return Atomics.or(this.#viewOf(index, value), index, value as number) as Element<T>;
  }

  /** Bitwise exclusive or. */
  xor(index: number, value: Element<T>): Element<T> {
    return Atomics.xor(this.#viewOf(index, value), index, value as number) as Element<T>;
  }

  /** Replaces it. */
  exchange(index: number, value: Element<T>): Element<T> {
    return Atomics.exchange(this.#viewOf(index, value), index, value as number) as Element<T>;
  }

  /** Replaces it if it is `expected`. */
  compareExchange(index: number, expected: Element<T>, value: Element<T>): Element<T> {
    this.#viewOf(index, expected);
    const view = this.#viewOf(index, value);
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
      `A counter counts whole numbers up to 2 ** 53, not ${show(value)}.`,
    );
  }
  return BigInt(value);
}

registerHandle("vector", (memory) => new SharedVector(memory));
registerHandle("counter", (memory) => new AtomicCounter(memory));
