/**
 * Threads whose output goes to streams of the process that do not exist yet. `new Worker` pipes it to `process.stdout` and
 * `stderr`, and thereby makes them, for 2 to 4 ms; but a worker of heddle writes to the descriptors itself, so that hardly ever
 * anything comes through this pipe: what a module prints that `--import` loads before heddle. It ends in a stream that looks for the
 * real one when something arrives.
 */
import { mayExist, OUTPUTS } from "../node-api/process/outputs.ts";
import { process } from "../node-api/process/process.ts";
import { threads } from "../node-api/threads/threads.ts";

type Constructor = Parameters<typeof Reflect.construct>[0];

/** As `Reflect.construct`; meanwhile the streams of the process that do not exist are such ends. */
export function constructThread(target: Constructor, args: readonly unknown[]): unknown {
  const originals: PropertyDescriptorMap = {};
  // Those of a thread are there from the start.
  if (threads().isMainThread) {
    const { EventEmitter } = process.getBuiltinModule("node:events");
    for (const name of OUTPUTS) {
      if (mayExist(name)) continue;
      originals[name] = Object.getOwnPropertyDescriptor(process, name)!;
      // What a pipe needs of its end.
      const end = Object.assign(new EventEmitter(), {
        write: (chunk: Uint8Array): boolean => {
          const stream = process[name];
          const mayGoOn = stream.write(chunk);
          if (!mayGoOn) stream.once("drain", () => end.emit("drain"));
          return mayGoOn;
        },
      });
      // False if the program has frozen `process`.
      Reflect.defineProperty(process, name, { configurable: true, enumerable: true, value: end });
    }
  }
  try {
    return Reflect.construct(target, args);
  } finally {
    for (const name in originals) Reflect.defineProperty(process, name, originals[name]!);
  }
}
