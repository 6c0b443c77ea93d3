/**
 * Modules of Node that every thread needs, without `import`: for that, Node makes a module with all their names, which loads what
 * these give lazily (0.2 ms each). Not for files that pages load as well.
 */
import { Error, TOO_OLD } from "../../builtins.ts";
import { process } from "./process/process.ts";

if (process.getBuiltinModule === undefined) throw new Error(TOO_OLD);

export const Buffer: typeof import("node:buffer").Buffer =
  process.getBuiltinModule("node:buffer").Buffer;
export const timers: typeof import("node:timers") = process.getBuiltinModule("node:timers");
export const types: typeof import("node:util/types") = process.getBuiltinModule("node:util/types");
