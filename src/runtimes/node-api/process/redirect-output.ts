/** Output of this thread that goes elsewhere. */
import { Buffer } from "../builtins.ts";
import { process } from "./process.ts";
import { isBun, isDeno } from "../threads/threads.ts";
import type { OutputName } from "../../worker-handle.ts";

/** Gives what is written to these streams of the process, also by `console`, to `write`. Text that has an encoding of its own arrives as bytes. */
export function redirectOutput(
  names: readonly OutputName[],
  write: (name: OutputName, chunk: string | Uint8Array) => void,
): void {
  for (const name of names) {
    const replacement = (given: string | Uint8Array, ...rest: unknown[]): boolean => {
      const [encoding] = rest;
      const chunk = typeof given === "string" && typeof encoding === "string"
        ? Buffer.from(given, encoding as BufferEncoding)
        : given;
      write(name, chunk);
      const callback = rest.at(-1);
      if (typeof callback === "function") process.nextTick(callback as () => void);
      return true;
    };
    Object.assign(process[name], { write: replacement });
  }
  if (!isBun && !isDeno) return;
  // Their own consoles write to the descriptors.
  const { Console } = process.getBuiltinModule("node:console");
  Object.assign(console, new Console(process.stdout, process.stderr));
}
