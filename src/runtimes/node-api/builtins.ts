/**
 * Modules of Node that every thread needs, without `import`: for that, Node makes a module with all their names, which loads what
 * these give lazily (0.2 ms each). Not for files that pages load as well.
 */
import { process } from "./process.ts";

export const Buffer: typeof import("node:buffer").Buffer =
  process.getBuiltinModule("node:buffer").Buffer;
export const timers: typeof import("node:timers") = process.getBuiltinModule("node:timers");
export const types: typeof import("node:util/types") = process.getBuiltinModule("node:util/types");
