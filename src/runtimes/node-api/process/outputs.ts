/** The standard streams of the process, of which programs replace the `write` to get what is printed. */
import { process } from "./process.ts";
import { isBun, isDeno } from "../threads/threads.ts";
import type { OutputName } from "../../worker-handle.ts";

export const OUTPUTS: readonly OutputName[] = ["stdout", "stderr"];

/** `moduleLoadList`: the modules that Node has loaded, as `NativeModule tty`. */
type NodeProcess = NodeJS.Process & { readonly moduleLoadList?: readonly string[] };

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
  const { get } = Object.getOwnPropertyDescriptor(process, name) ?? {};
  const { moduleLoadList, platform } = process as NodeProcess;
  // On Windows a stream may go nowhere, and need none of the modules.
  return platform === "win32" ||
    !/^getStd(?:out|err)$/.test(String(get?.name)) ||
    moduleLoadList?.includes("NativeModule worker_threads") !== true ||
    // One of these is loaded when a stream is made: for a terminal, a pipe or a file.
    moduleLoadList.includes("NativeModule tty") || moduleLoadList.includes("NativeModule net") ||
    moduleLoadList.includes("NativeModule internal/fs/sync_write_stream");
}

/** Whether the program has replaced neither this stream nor its `write`. */
export function isOwn(name: OutputName): boolean {
  if (!mayExist(name)) return true;
  const stream = process[name];
  // Bun's own `write` is a property of the stream, as those of programs are (1.4). A mock has its name, but no such text.
  return isBun
    ? String(stream.write).startsWith("function writeFast(data")
    : !Object.hasOwn(stream, "write");
}

/** The streams that the program has replaced, or their `write`. */
export function replacedOutputs(): readonly OutputName[] {
  return OUTPUTS.filter((name) => !isOwn(name));
}
