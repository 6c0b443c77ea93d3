/**
 * Arrays looked at in place: `ArrayView` and `NumericArrayView` of `field-types.ts`. Count and place
 * are checked once, when the view is made.
 */
import type { NumericKind, TypedArrays } from "./field-types.ts";
import type { Plan } from "./plan.ts";
import { SCALARS, type ScalarValue } from "./scalars.ts";
import type { Source, Viewer } from "./source.ts";

/** Where the elements of a view are, known to lie in the record. */
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

  /** `viewer` shows an element, `plan` copies it. */
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
    const whole = Math.trunc(index) || 0; // before: it may run code
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

  /** The elements, unless the view has expired. Whatever they have in the tail lies behind them. */
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
    return copyNumbers(source, this.#kind, start, count);
  }
}

const CONSTRUCTORS: { readonly [Kind in NumericKind]: new (count: number) => TypedArrays[Kind] } = {
  f64: Float64Array,
  f32: Float32Array,
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
};

/** `count` elements from `start` in a fresh array. */
function copyNumbers(
  { memory }: Source,
  kind: NumericKind,
  start: number,
  count: number,
): TypedArrays[NumericKind] {
  const copy = new CONSTRUCTORS[kind](count);
  const { bytes, load } = SCALARS[kind];
  const first = start / bytes;
  switch (kind) {
    case "f64":
      (copy as Float64Array).set(memory.f64.subarray(first, first + count));
      break;
    case "u8":
      (copy as Uint8Array).set(memory.u8.subarray(first, first + count));
      break;
    case "i32":
      (copy as Int32Array).set(memory.i32.subarray(first, first + count));
      break;
    default:
      for (let index = 0; index < count; index++) {
        (copy as unknown as ScalarValue[])[index] = load(memory, start + index * bytes);
      }
  }
  return copy;
}
