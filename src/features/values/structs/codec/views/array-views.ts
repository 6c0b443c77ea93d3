/**
 * Views of arrays in place: `ArrayView` and `NumericArrayView` of `field-types.ts`. Count and position
 * are checked once, when the view is created.
 */
import type { Memory } from "../../../../../memory/views.ts";
import type { NumericKind, TypedArrays } from "../../schema/field-types.ts";
import type { Source, Viewer } from "../../schema/input.ts";
import type { Plan } from "../compile.ts";

/** Location of the elements of a view, checked to lie in the record. */
export interface Elements {
  readonly source: Source;
  readonly start: number;
  readonly count: number;
  readonly stride: number;
}

export class ElementsView {
  readonly #elements: Elements;
  readonly #viewer: Viewer;
  readonly #plan: Plan;

  /** `viewer` creates the view of an element, `plan` copies an element. */
  constructor(elements: Elements, viewer: Viewer, plan: Plan) {
    this.#elements = elements;
    this.#viewer = viewer;
    this.#plan = plan;
  }

  static is(object: object): boolean {
    return #elements in object;
  }

  get length(): number {
    return this.open().count;
  }

  at(index: number): unknown {
    const whole = Math.trunc(index) || 0; // first, since it may run user code
    const { source, start, count, stride } = this.open();
    const place = whole < 0 ? count + whole : whole;
    if (place < 0 || place >= count) return undefined;
    return this.#viewer(source, start + place * stride);
  }

  *[Symbol.iterator](): Generator<unknown, void, undefined> {
    const { count, start, stride } = this.open();
    for (let index = 0; index < count; index++) {
      const { source } = this.open(); // may have been revoked since the last element
      yield this.#viewer(source, start + index * stride);
    }
  }

  toArray(): unknown[] {
    const { source, start, count, stride } = this.open();
    const values = new Array<unknown>(count);
    for (let index = 0; index < count; index++) {
      values[index] = this.#plan.read(source, start + index * stride);
    }
    return values;
  }

  /** The elements, unless the view has expired. Their data in the tail follows them. */
  protected open(): Elements {
    const elements = this.#elements;
    elements.source.open(elements.start + elements.count * elements.stride);
    return elements;
  }
}

export class NumbersView extends ElementsView {
  readonly #kind: NumericKind;

  constructor(elements: Elements, viewer: Viewer, plan: Plan, kind: NumericKind) {
    super(elements, viewer, plan);
    this.#kind = kind;
  }

  copy(): TypedArrays[NumericKind] {
    const { source, start, count } = this.open();
    const [create, view] = ARRAYS[this.#kind];
    const copy = create(count);
    const from = view === undefined ? source.memory.u8 : source.memory[view];
    const to = view === undefined ? new Uint8Array(copy.buffer) : copy;
    const first = start / from.BYTES_PER_ELEMENT;
    to.set(from.subarray(first, first + to.length) as never);
    return copy;
  }
}

type MadeArray = (count: number) => TypedArrays[NumericKind];

/** For each kind: the array to create, and the view of the memory with the same element type. */
const ARRAYS: Readonly<Record<NumericKind, readonly [MadeArray, keyof Memory | undefined]>> = {
  f64: [(count) => new Float64Array(count), "f64"],
  f32: [(count) => new Float32Array(count), undefined],
  i8: [(count) => new Int8Array(count), "u8"],
  u8: [(count) => new Uint8Array(count), "u8"],
  i16: [(count) => new Int16Array(count), "u16"],
  u16: [(count) => new Uint16Array(count), "u16"],
  i32: [(count) => new Int32Array(count), "i32"],
  u32: [(count) => new Uint32Array(count), "i32"],
  i64: [(count) => new BigInt64Array(count), "i64"],
  u64: [(count) => new BigUint64Array(count), "i64"],
};
