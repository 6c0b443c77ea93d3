/** The payload of a declared layout. The layout itself is in `contenders/heddle-struct.ts`. */
import { particle } from "./objects.ts";
import type { PayloadKind } from "./payload.ts";

export const STRUCT_KIND: PayloadKind = {
  name: "struct, 8 fields",
  family: "object",
  route: "struct",
  fitsJson: true,
  create: particle,
};
