/** The sizes of scalars. */
import type { NumericKind } from "../schema/field-types.ts";

export type ScalarKind = NumericKind | "bool";

/** Size and alignment. */
export const SCALAR_BYTES: Readonly<Record<ScalarKind, 1 | 2 | 4 | 8>> = {
  f64: 8,
  f32: 4,
  i8: 1,
  u8: 1,
  i16: 2,
  u16: 2,
  i32: 4,
  u32: 4,
  i64: 8,
  u64: 8,
  bool: 1,
};
