/** The kinds of values that ordinary payloads do not have, as a feature of the codec. */
import type { ValueFeature } from "../../../codec/feature.ts";
import { readBorrowed } from "./wrapped/borrowed.ts";
import { readHandle } from "./handles.ts";
import { readBoxed, readRegExp, readSymbol, writeRare } from "./kinds/other-objects.ts";
import { readEnvelope } from "./wrapped/wrapped-values.ts";
import { pathTo } from "./path.ts";
import { readResizable } from "./kinds/other-bytes.ts";
import { readSparse } from "./kinds/sparse.ts";
import {
  BORROWED,
  BOXED,
  ENVELOPE,
  HANDLE,
  REGEXP,
  RESIZABLE,
  SPARSE,
  SYMBOL,
} from "../../../codec/tags.ts";

/** By tag. */
export const valueReaders: NonNullable<ValueFeature["valueReaders"]> = {
  [SYMBOL]: readSymbol,
  [REGEXP]: readRegExp,
  [BOXED]: readBoxed,
  [ENVELOPE]: readEnvelope,
  [BORROWED]: readBorrowed,
  [HANDLE]: readHandle,
  [RESIZABLE]: readResizable,
  [SPARSE]: readSparse,
};

export const rareValues: ValueFeature = {
  name: "values",
  valueReaders,
  writeValue: writeRare,
  pathToValue: pathTo,
};
