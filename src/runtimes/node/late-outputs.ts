/**
 * Threads whose output goes to streams of the process that do not exist yet. `new Worker` pipes it to `process.stdout` and
 * `stderr`, and thereby makes them, for 2 to 4 ms. But a worker of heddle writes to the descriptors itself, so that hardly ever
 * anything comes through this pipe: what a module prints that `--import` loads before heddle. Node therefore gets a pipe that ends
 * in a stub, which makes the stream when something arrives.
 */
import { Map } from "../../builtins.ts";
import type { Worker } from "node:worker_threads";
import { mayExist, OUTPUTS } from "../node-api/process/outputs.ts";
import { process } from "../node-api/process/process.ts";
import { threads } from "../node-api/threads/threads.ts";
import type { OutputName } from "../worker-handle.ts";

/**
 * How often Node reads each property while it makes the two pipes of a thread. After the last read the property is the original again,
 * before the constructor calls code of the program (`diagnostics_channel`, a subclass). If Node reads more often, it gets the stream.
 */
const READS: Readonly<Record<OutputName, number>> = { stdout: 3, stderr: 2 };

/** Makes a thread. The end of its output is a stub for each stream that does not exist. */
export function constructThread(
  constructor: typeof Worker,
  url: URL,
  options: object,
): Worker {
  const originals = new Map<OutputName, PropertyDescriptor>();
  try {
    // Those of a thread exist from its start.
    if (threads().isMainThread) {
      for (const name of OUTPUTS) {
        if (mayExist(name)) continue;
        const original: PropertyDescriptor = Object.assign(
          Object.create(null),
          Object.getOwnPropertyDescriptor(process, name),
        );
        const { EventEmitter } = process.getBuiltinModule("node:events");
        let left = READS[name];
        // The members that a pipe calls. The pipe never waits, since little goes through it.
        const stub = Object.assign(new EventEmitter(), {
          write: (chunk: Uint8Array): boolean => {
            const stream: object = process[name];
            // A hook of `async_hooks` that prints before Node has read the property gets the stub.
            (stream === stub ? original.get!.call(process) : stream).write(chunk);
            return true;
          },
          end: () => {},
        });
        originals.set(name, original);
        const get = (): unknown => {
          if (--left <= 0) Reflect.defineProperty(process, name, original);
          return stub;
        };
        // False if the program has frozen `process`.
        Reflect.defineProperty(
          process,
          name,
          Object.assign(Object.create(null), original, { get }),
        );
      }
    }
    return Reflect.construct(constructor, [url, options]) as Worker;
  } finally {
    for (const [name, original] of originals) Reflect.defineProperty(process, name, original);
  }
}
