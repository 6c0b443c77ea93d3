/** The code for structs as one object (`registry.ts`). */
import { rebuildArgument, rebuildStruct } from "./rebuild.ts";
import type { StructCode } from "./registry.ts";
import { describeSignature, signatureOf } from "./signature.ts";

export const code: StructCode = { signatureOf, describeSignature, rebuildArgument, rebuildStruct };
