import type { OutputName } from "../runtime.ts";

/**
 * The global `process`. Importing `node:process` costs a Node worker 0.9 ms, and modules that few pools need cost 0.3 to
 * 10 ms each (`node:fs`, `os`, `path`, `url`, `util`, `v8`): `process.getBuiltinModule` loads those when they are used.
 */
export const process: NodeJS.Process = globalThis.process;

/** The streams of the process of which `isOne` is true: tools that capture output replace their `write`. */
export function outputsOf(isOne: (stream: object) => boolean): readonly OutputName[] {
  return (["stdout", "stderr"] as const).filter((name) => isOne(process[name]));
}
