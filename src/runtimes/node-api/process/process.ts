/**
 * The global `process`. Importing `node:process` costs a Node worker 0.9 ms, and modules that few pools need cost 0.3 to
 * 10 ms each (`node:fs`, `os`, `path`, `url`, `util`, `v8`): `process.getBuiltinModule` loads those when they are used.
 */
export const process: NodeJS.Process = globalThis.process;

/** Listens for rejections that nobody handles, while the program does not listen itself. */
export function onUnhandledRejection(listener: (reason: unknown) => void): void {
  process.on("unhandledRejection", (reason) => {
    if (process.listenerCount("unhandledRejection") === 1) listener(reason);
  });
}

/** Calls back when what was written to stdout and stderr has left this thread. */
export function flushOutput(callback: () => void): void {
  process.stdout.write("", () => void process.stderr.write("", callback));
}
