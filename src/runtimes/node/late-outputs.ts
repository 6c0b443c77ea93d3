/**
 * Threads whose output goes to streams of the process that do not exist yet. `new Worker` pipes it to `process.stdout` and
 * `stderr`, and thereby makes them, for 2 to 4 ms; but a worker of heddle writes to the descriptors itself, so that hardly ever
 * anything comes through this pipe: what a module prints that `--import` loads before heddle. It ends in a stream that looks for the
 * real one when something arrives.
 */
import { process } from "../node-api/process.ts";
import { mayExist } from "../node-api/outputs.ts";
import { threads } from "../node-api/threads.ts";
import type { OutputName } from "../worker-handle.ts";

/** What a pipe needs of its end. */
function lateOutput(name: OutputName): object {
  const { EventEmitter } = process.getBuiltinModule("node:events");
  const end = new EventEmitter();
  return Object.assign(end, {
    write: (chunk: Uint8Array): boolean => {
      const stream = process[name];
      const mayGoOn = stream.write(chunk);
      if (!mayGoOn) stream.once("drain", () => end.emit("drain"));
      return mayGoOn;
    },
  });
}

/** Calls `make`, for which the streams of the process that do not exist are such ends. */
export function withLateOutputs<T>(make: () => T): T {
  if (!threads().isMainThread) return make(); // its streams are there from the start
  const originals = (["stdout", "stderr"] as const).filter((name) => !mayExist(name))
    .map((name) => [name, Object.getOwnPropertyDescriptor(process, name)!] as const);
  try {
    for (const [name] of originals) {
      // Undone below. False if the program has frozen `process`.
      Reflect.defineProperty(process, name, {
        configurable: true,
        enumerable: true,
        value: lateOutput(name),
      });
    }
    return make();
  } finally {
    for (const [name, original] of originals) Reflect.defineProperty(process, name, original);
  }
}
