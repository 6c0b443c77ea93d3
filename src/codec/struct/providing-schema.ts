/** `struct()` for bundles: it alone brings the code for structs into them. */
import { code } from "./code.ts";
import type { Fields, Struct } from "./field-types.ts";
import { provideStructs } from "./registry.ts";
import { struct as declareStruct } from "./schema.ts";

export function struct<F extends Fields>(fields: F): Struct<F> {
  provideStructs(code);
  return declareStruct(fields);
}
