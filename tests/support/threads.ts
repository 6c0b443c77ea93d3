/** Makes threads that cannot start. Import this before heddle, which takes the runtime's `Worker` when it is loaded. */
import process from "node:process";

type Constructor = new (...args: unknown[]) => object;

/** Whether a thread may start. */
export const threads: { mayStart: () => boolean } = { mayStart: () => true };

function limited(Worker: Constructor): Constructor {
  return class extends Worker {
    constructor(...args: unknown[]) {
      if (!threads.mayStart()) {
        throw Object.assign(new Error("no threads here"), { code: "ERR_WORKER_INIT_FAILED" });
      }
      super(...args);
    }
  };
}

const owner: { Worker: unknown } = "Bun" in globalThis
  ? globalThis as unknown as { Worker: unknown }
  : process.getBuiltinModule("node:worker_threads") as unknown as { Worker: unknown };
owner.Worker = limited(owner.Worker as Constructor);
