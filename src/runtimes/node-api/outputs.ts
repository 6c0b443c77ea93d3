/** The standard streams of the process, of which programs replace the `write` to get what is printed. */
import { process } from "./process.ts";
import { isBun, isDeno } from "./threads.ts";
import type { OutputName } from "../worker-handle.ts";

const OUTPUTS = ["stdout", "stderr"] as const;

/** Node's own getters of its streams. */
const GETTERS: Readonly<Record<OutputName, string>> = { stdout: "getStdout", stderr: "getStderr" };

/** Of these modules of Node one is loaded when a stream is made: for a terminal, a pipe or a file. */
const MAKERS = ["tty", "net", "internal/fs/sync_write_stream"];

declare global {
  namespace NodeJS {
    interface Process {
      /** Modules that Node has loaded, as `NativeModule tty`. */
      readonly moduleLoadList?: readonly string[];
    }
  }
}

/**
 * Whether this stream may be there. Runtimes make one when it is looked at first: 2 to 4 ms on Node, 8 to 12 on Bun. So this does
 * not look, and answers true where the runtime does not show the signs that it knows.
 */
export function mayExist(name: OutputName): boolean {
  if (isDeno) return true;
  if (isBun) {
    // Lists the properties that exist by now: this method does.
    const text = (process.getBuiltinModule("bun:jsc") as { jscDescribe(value: object): string })
      .jscDescribe(process);
    return !text.includes("getBuiltinModule:") || text.includes(`${name}:`);
  }
  const { moduleLoadList, platform } = process;
  // On Windows a stream may go nowhere, and need none of the modules.
  return platform === "win32" ||
    Object.getOwnPropertyDescriptor(process, name)?.get?.name !== GETTERS[name] ||
    moduleLoadList?.includes("NativeModule worker_threads") !== true ||
    MAKERS.some((module) => moduleLoadList.includes(`NativeModule ${module}`));
}

/** Bun's own `write` is a property of the stream (1.4), as those of programs are. */
function isReplaced(name: OutputName): boolean {
  const stream = process[name];
  return isBun ? stream.write.name !== "writeFast" : Object.hasOwn(stream, "write");
}

/** The streams that the program has replaced, or their `write`. */
export function replacedOutputs(): readonly OutputName[] {
  return OUTPUTS.filter((name) => mayExist(name) && isReplaced(name));
}

/** The streams that it has not replaced. */
export function ownOutputs(): readonly OutputName[] {
  return OUTPUTS.filter((name) => !mayExist(name) || !isReplaced(name));
}
