// A plain script of a user of workerpool.
const workerpool = require("@heddle/workerpool");

const state = { isMainThread: workerpool.isMainThread, argv: process.argv.slice(2), calls: 0 };

workerpool.worker({
  add: (a, b) => a + b,
  count: () => ++state.calls,
  mainFile: () => require.main?.filename,
  state: () => state,
  env: (name) => process.env[name],
  workerData: () => require("node:worker_threads").workerData,
  later: (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value)),
  workerpoolPromise: () => new workerpool.Promise((resolve) => setTimeout(resolve, 1, "resolved")),
  fail() {
    throw Object.assign(new RangeError("failed", { cause: new Error("deep") }), {
      code: "E_FAILED",
    });
  },
  emit() {
    workerpool.workerEmit({ step: 1 });
    this.worker.emit({ step: 2 });
    return "done";
  },
  async emitLater() {
    await new Promise((resolve) => setTimeout(resolve, 5));
    workerpool.workerEmit("later");
  },
  waitForever(told) {
    const { worker } = this;
    return new Promise(() => {
      worker.addAbortListener(() => workerpool.workerEmit(told));
      workerpool.workerEmit("waits");
    });
  },
  blockUntil(shared) {
    workerpool.workerEmit("blocks");
    Atomics.wait(new Int32Array(shared), 0, 0, 60_000);
  },
  async reject(isHandled) {
    if (isHandled) process.once("unhandledRejection", () => {});
    Promise.reject(new Error("not handled"));
    await new Promise((resolve) => setTimeout(resolve, isHandled ? 50 : 600_000));
    return "lives";
  },
  async throwLater() {
    setTimeout(() => {
      throw new Error("not caught");
    });
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  },
  bytes: (size) => {
    const bytes = new Uint8Array(size).fill(7);
    return new workerpool.Transfer(bytes, [bytes.buffer]);
  },
  length: (bytes) => bytes.length,
  values: (...values) => values.map((value) => Object.prototype.toString.call(value)),
  exitSoon: () => void setTimeout(() => process.exit(1), 5),
  exit: (code) => process.exit(code),
});
