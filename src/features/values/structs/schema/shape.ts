/**
 * The layout of the fields of a declared shape. It follows from the schema, so both sides compute the same
 * layout and only data is sent.
 *
 *   struct at `at` (8-aligned in a record)
 *    0                                    size              ≥ fixedBytes
 *   +-----------------------------------+-----------------+---------------------------- - -
 *   | fixed part, a field at a constant | padding up to a | tail: what the slots point at, |
 *   | offset each, largest alignment    | multiple of 8   | in the order of the fields,    |
 *   | first (8, 4, 2, 1)                |                 | each part 8-aligned            |
 *   +-----------------------------------+-----------------+---------------------------- - -
 *
 *   field            bytes          alignment  content
 *   f64 i64 u64      8              8
 *   f32 i32 u32      4              4
 *   i16 u16          2              2          little-endian
 *   i8 u8 bool       1              1
 *   presence         4 per 32       4          bit n of the words: optional field n is there
 *   utf8(max)        4 + max        4          i32 length word, then the bytes
 *   bytes(max)       4 + max        4          i32 length, then the bytes
 *   array(T, max)    4 + max × T    4 or T's   i32 count, then the elements, at T's alignment
 *   struct           its own size   its own    its fixed part; its tail goes behind the outermost one
 *   utf8() bytes()   8              4          slot: i32 distance from the slot itself to the data,
 *   array(T)                                   i32 length word, length or count
 *
 * A length word is the number of bytes, or its bitwise complement if all of them are ASCII. A distance
 * is relative to its slot, so a struct may be moved as a whole. Tails follow one another in writing
 * order (`PlacedField`, depth first). The reader enforces this order, so that no two fields can share data
 * and the reader's allocations are bounded by the length of the record.
 */
import { JSON, Map } from "../../../../builtins.ts";
import { SCALAR_BYTES, type ScalarKind } from "../codec/scalar-bytes.ts";
import { SCALARS } from "../codec/scalars.ts";

/** Bytes of a slot, which refers from the fixed part to data in the tail. */
const SLOT_BYTES = 8;
/** Bytes of the length or count in front of bounded data. */
export const LENGTH_BYTES = 4;
/** Optional fields per presence word. */
export const PRESENCE_BITS = 32;

interface Extent {
  /** Bytes in the fixed part, a multiple of `align`. At least 1, so that a count bounds memory. */
  readonly size: number;
  readonly align: 1 | 2 | 4 | 8;
  /** Whether a part of it may lie in the tail. */
  readonly isDeep: boolean;
}

export interface ScalarShape extends Extent {
  readonly kind: ScalarKind;
}

export interface TextShape extends Extent {
  readonly kind: "utf8" | "bytes";
  /** Bytes at most, or undefined: unbounded. */
  readonly max: number | undefined;
}

export interface ArrayShape extends Extent {
  readonly kind: "array";
  readonly of: Shape;
  /** Elements at most, or undefined: unbounded. */
  readonly max: number | undefined;
  /** Bounded: bytes from the count to the first element. */
  readonly elementsAt: number;
  /** The name of the typed array that is accepted too. */
  readonly arrayName: string | undefined;
}

export interface StructShape extends Extent {
  readonly kind: "struct";
  /** In declared order, which is the order of an object with these keys. */
  readonly keys: readonly string[];
  /** In writing order: scalars, then other fields without a tail, then fields with one; each group by alignment. */
  readonly fields: readonly PlacedField[];
  /** Offset of the presence words, and their number. */
  readonly presenceAt: number;
  readonly presenceWords: number;
}

export type Shape = ScalarShape | TextShape | ArrayShape | StructShape;

export interface PlacedField {
  readonly key: string;
  /** Place in `keys`. */
  readonly index: number;
  readonly shape: Shape;
  /** Bytes from the start of the struct. */
  readonly offset: number;
  /** Number of its presence bit, or -1 if it is not optional. */
  readonly bit: number;
}

export function isScalar(shape: Shape): shape is ScalarShape {
  return Object.hasOwn(SCALAR_BYTES, shape.kind);
}

export function scalarShape(kind: ScalarKind): ScalarShape {
  const bytes = SCALAR_BYTES[kind];
  return { kind, size: bytes, align: bytes, isDeep: false };
}

export function textShape(kind: "utf8" | "bytes", max: number | undefined): TextShape {
  const isDeep = max === undefined;
  return {
    kind,
    max,
    size: isDeep ? SLOT_BYTES : roundUp(LENGTH_BYTES + max, 4),
    align: 4,
    isDeep,
  };
}

export function arrayShape(of: Shape, max: number | undefined): ArrayShape {
  const arrayName = isScalar(of) ? SCALARS[of.kind].arrayName : undefined;
  const common = { kind: "array", of, max, arrayName } as const;
  if (max === undefined) {
    return { ...common, elementsAt: 0, size: SLOT_BYTES, align: 4, isDeep: true };
  }
  const align = of.align === 8 ? 8 : 4;
  const elementsAt = roundUp(LENGTH_BYTES, of.align);
  const size = roundUp(elementsAt + max * of.size, align);
  return { ...common, elementsAt, size, align, isDeep: of.isDeep };
}

/** A field after the checks of `struct()`. */
export interface DeclaredField {
  readonly key: string;
  readonly shape: Shape;
  readonly isOptional: boolean;
}

export function structShape(declared: readonly DeclaredField[]): StructShape {
  const inOrder = declared.map((field, index) => ({ ...field, index }))
    .sort((a, b) =>
      rank(a.shape) - rank(b.shape) || b.shape.align - a.shape.align || a.index - b.index
    );
  const optionals = inOrder.filter((field) => field.isOptional);
  const presenceWords = Math.ceil(optionals.length / PRESENCE_BITS);
  const offsets = new Map<number, number>();
  let presenceAt = 0;
  let end = 0;
  for (const align of [8, 4, 2, 1]) {
    if (align === 4) {
      presenceAt = end;
      end += 4 * presenceWords;
    }
    for (const { shape, index } of inOrder) {
      if (shape.align !== align) continue;
      offsets.set(index, end); // every size is a multiple of its alignment: no gaps
      end += shape.size;
    }
  }
  const align = declared.reduce<Extent["align"]>(
    (most, { shape }) => shape.align > most ? shape.align : most,
    presenceWords > 0 ? 4 : 1,
  );
  return {
    kind: "struct",
    keys: declared.map(({ key }) => key),
    fields: inOrder.map((field) => ({
      key: field.key,
      index: field.index,
      shape: field.shape,
      offset: offsets.get(field.index)!,
      bit: optionals.indexOf(field),
    })),
    presenceAt,
    presenceWords,
    size: Math.max(1, roundUp(end, align)),
    align,
    isDeep: declared.some(({ shape }) => shape.isDeep),
  };
}

/** Writing order: scalars are written inline before any field that can make the memory move. */
function rank(shape: Shape): number {
  return shape.isDeep ? 2 : isScalar(shape) ? 0 : 1;
}

function roundUp(bytes: number, align: number): number {
  return Math.ceil(bytes / align) * align;
}

/** Maximum number of strings in the tail. */
export function countTailTexts(shape: Shape): number {
  switch (shape.kind) {
    case "utf8":
      return shape.isDeep ? 1 : 0;
    case "array":
      return countTailTexts(shape.of) === 0 ? 0 : Infinity;
    case "struct":
      return shape.fields.reduce((count, field) => count + countTailTexts(field.shape), 0);
    default:
      return 0;
  }
}

/** A description of the whole shape: two shapes have the same layout and keys if and only if these are equal. */
export function describeShape(shape: Shape): string {
  const most = "max" in shape && shape.max !== undefined ? shape.max : "";
  switch (shape.kind) {
    case "utf8":
    case "bytes":
      return `${shape.kind}(${most})`;
    case "array":
      return `array(${describeShape(shape.of)}${most === "" ? "" : `, ${most}`})`;
    case "struct": {
      const inOrder = [...shape.fields].sort((a, b) => a.index - b.index);
      const fields = inOrder.map(({ key, bit, shape: of }) =>
        `${JSON.stringify(key)}${bit < 0 ? "" : "?"}: ${describeShape(of)}`
      );
      return `struct { ${fields.join(", ")} }`;
    }
    default:
      return shape.kind;
  }
}

/** Describes the accepted values of this shape in a message. */
export function expectedOf(shape: Shape): string {
  const most = "max" in shape && shape.max !== undefined ? ` of at most ${shape.max}` : "";
  switch (shape.kind) {
    case "utf8":
      return `a string${most === "" ? "" : `${most} UTF-8 bytes`} (utf8)`;
    case "bytes":
      return `a Uint8Array${most === "" ? "" : `${most} bytes`} (bytes)`;
    case "array": {
      const orTyped = shape.arrayName === undefined ? "" : ` or ${shape.arrayName}`;
      const elements = most === "" ? "" : `${most} elements`;
      return `an array${orTyped}${elements} (array of ${shape.of.kind})`;
    }
    case "struct":
      return `an object (struct with the keys ${shape.keys.join(", ") || "–"})`;
    default:
      return SCALARS[shape.kind].expected;
  }
}
