/** The kinds of values that ordinary payloads do not have, as a feature of the codec. */
import type { ValueFeature } from "./feature.ts";
import { readBorrowed } from "./kinds/borrow.ts";
import { readHandle } from "./kinds/handles.ts";
import { readBoxed, readRegExp, readSymbol, writeRare } from "./kinds/other-objects.ts";
import { readEnvelope } from "./kinds/wrappers.ts";
import { pathTo } from "./support/path.ts";
import { BORROWED, BOXED, ENVELOPE, HANDLE, REGEXP, SYMBOL } from "./tags.ts";

export const rareValues: ValueFeature = {
  name: "values",
  valueReaders: {
    [SYMBOL]: readSymbol,
    [REGEXP]: readRegExp,
    [BOXED]: readBoxed,
    [ENVELOPE]: readEnvelope,
    [BORROWED]: readBorrowed,
    [HANDLE]: readHandle,
  },
  writeValue: writeRare,
  pathToValue: pathTo,
};
