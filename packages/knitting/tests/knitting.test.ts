/** @heddle/knitting: Knitting's API, bullet by bullet of docs/migrating-from-knitting.md. */
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import {
  BufferReference,
  checkCompiledWorker,
  type CreatePool,
  createPool,
  Envelope,
  isNumericArray,
  NumericArray,
  ProcessSharedBuffer,
  UnsupportedError,
  workerMainLoop,
} from "@heddle/knitting";
import { argumentCount, poolOf, square, unguarded } from "./fixtures/knitting-tasks.ts";
import { sharedWords, until } from "../../../tests/support/conformance.ts";
import { capabilities, runFile, runtimeName } from "../../../tests/support/runtime.ts";

const open: { shutdown(): Promise<void> }[] = [unguarded];
const closeAll = () => Promise.all(open.splice(0).map((pool) => pool.shutdown()));
afterAll(closeAll);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pool = (options?: CreatePool): ReturnType<typeof poolOf> => {
  const created = poolOf(options);
  open.push(created);
  return created;
};
const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => "resolved", (reason: unknown) => reason);

describe("pools", () => {
  test("are plain objects whose members can be taken out", async () => {
    const { call, shutdown, [Symbol.dispose]: dispose } = poolOf();
    expect(await call.square(4)).toBe(16);
    dispose();
    await shutdown();
    expect(String(await reasonOf(call.square(1)))).toBe("Error: Pool is shut down");
  });

  test("have one worker unless told otherwise", async () => {
    const { call } = pool();
    const order: number[] = [];
    await Promise.all([3, 1, 2].map((n) => call.square(n).then((value) => order.push(value))));
    expect(order).toEqual([9, 1, 4]);
  });

  test("may stand unguarded in a module that workers load, and do nothing there", async () => {
    expect(await unguarded.call.square(3)).toBe(9);
    const { call } = pool();
    expect(await call.callInWorker()).toBe("HEDDLE_KNITTING_UNSUPPORTED");
    expect(await call.mainThere()).toBe(false);
  });

  test("find functions and tasks under other names than their exports, and tasks without", async () => {
    expect(await runFile(fileURLToPath(new URL("./fixtures/script.ts", import.meta.url)))).toEqual({
      code: 0,
      output: expect.stringContaining('["inner a",2,9,42]'),
    });
  });

  test("pass one argument, promises of it included", async () => {
    const { call } = pool();
    const many = call.argumentCount as unknown as (...args: unknown[]) => Promise<number>;
    expect(await Promise.all([1, 2].map(many))).toEqual([1, 1]);
    expect(await call.square(Promise.resolve(5))).toBe(25);
    expect([argumentCount(1, 2), square(2)]).toEqual([2, 4]);
  });

  test("load imported tasks in workers only, relative to their caller", async () => {
    const { call } = pool({ inliner: { position: "first" } });
    expect(await call.imported("it")).toBe("it in a worker");
    expect(await call.importedDefault()).toBe("default");
  });
});

describe("shutdown", () => {
  test("rejects calls in flight with Thread closed, and later ones", async () => {
    const { call, shutdown } = pool();
    await call.square(1);
    const reason = reasonOf(call.forever());
    const closing = shutdown();
    expect(shutdown()).toBe(closing);
    await closing;
    expect(await reason).toBe("Thread closed");
    expect(String(await reasonOf(call.square(1)))).toBe("Error: Pool is shut down");
  });

  test("takes and finishes calls during its delay", async () => {
    const { call, shutdown } = pool();
    await call.square(1);
    // The delay is over when the test says so.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    let isClosed = false;
    const closing = shutdown(200).then(() => isClosed = true);
    vi.advanceTimersByTime(199);
    expect(await call.square(2)).toBe(4);
    expect(isClosed).toBe(false);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await closing;
  });

  test("waits for calls in flight with resolveAfterFinishingAll", async () => {
    const { call, shutdown } = pool({ worker: { resolveAfterFinishingAll: true } });
    const value = call.unlimited(7);
    await shutdown();
    expect(await value).toBe(7);
  });
});

describe("time limits", () => {
  test("end by default, then maybe, then error, then Task timeout", async () => {
    const { call } = pool();
    expect(String(await reasonOf(call.plain()))).toBe("Error: Task timeout");
    expect(await call.defaulted()).toBe("d");
    expect(await call.maybe()).toBeUndefined();
    expect(await reasonOf(call.error())).toBe("e");
  });

  test("that are negative do nothing", async () => {
    expect(await pool().call.unlimited(7)).toBe(7);
  });

  test.runIf(capabilities.stopsLoops)("hardTimeoutMs closes the pool", async () => {
    const { call } = pool({ worker: { hardTimeoutMs: 50 } });
    expect(String(await reasonOf(call.loop()))).toMatch(/Task hard timeout after 50ms/);
    expect(String(await reasonOf(call.square(1)))).toBe("Error: Pool is shut down");
  });
});

describe("abort-aware calls", () => {
  test.each(["untilAborted", "importedUntilAborted"] as const)(
    "%s is aborted by the promise's reject, which the task sees",
    async (name) => {
      const { call } = pool();
      const words = sharedWords();
      const running = call[name](words);
      await until(() => Atomics.load(words, 0) === 1);
      running.reject("mine");
      expect(await reasonOf(running)).toBe("mine");
      await until(() => Atomics.load(words, 1) === 1);
    },
  );

  test("beyond abortSignalCapacity reject, until another one is over", async () => {
    const { call } = pool({ abortSignalCapacity: 1 });
    const words = sharedWords();
    const running = call.untilAborted(words);
    const refused = call.untilAborted(words);
    refused.reject();
    expect(await reasonOf(refused)).toBe(Symbol.for("knitting.abortSignal.poolExhausted"));
    running.reject("first");
    expect(await reasonOf(running)).toBe("first");
    const next = call.untilAborted(words);
    next.reject("second");
    expect(await reasonOf(next)).toBe("second");
  });
});

describe("values", () => {
  test("NumericArray survives crossing", async () => {
    const { call } = pool();
    expect(await call.described(NumericArray.of(1, 2.5))).toEqual([true, true, 3.5]);
    const received = await call.numbers();
    expect([isNumericArray(received), ...received]).toEqual([true, 1, 2, 3]);
    expect([isNumericArray([1]), [1] instanceof NumericArray]).toEqual([false, false]);
    const [nested] = await call.echo([NumericArray.of(1)]) as [object];
    expect(isNumericArray(nested)).toBe(true);
  });

  test("an Envelope arrives and disposes of its bytes", async () => {
    const received = await pool().call.wrap(new ArrayBuffer(8));
    expect(received).toBeInstanceOf(Envelope);
    expect([received.header, received.payload.byteLength]).toEqual([{ size: 8 }, 8]);
    const dispose = vi.fn();
    const body = Object.assign(new ArrayBuffer(1), { [Symbol.dispose]: dispose });
    new Envelope(1, body)[Symbol.dispose]();
    expect(dispose).toHaveBeenCalledOnce();
    received[Symbol.dispose]();
  });

  test("are exact where Knitting changes them", async () => {
    const { call } = pool();
    const value = { at: new Date(5), none: undefined, nan: NaN, big: 2n, list: new Uint8Array(2) };
    expect(await call.echo(value)).toStrictEqual(value);
    expect(await call.echo(new Map([[1, new Set(["a"])]]))).toEqual(new Map([[1, new Set(["a"])]]));
  });

  test("that cannot be sent reject with Knitting's codes", async () => {
    const { call } = pool({ payload: { maxPayloadBytes: 1000 } });
    expect(String(await reasonOf(call.refusedResult("function")))).toContain("KNT_ERROR_0");
    expect(String(await reasonOf(call.refusedResult("symbol")))).toContain("KNT_ERROR_1");
    expect(String(await reasonOf(call.refusedResult("other")))).toContain("KNT_ERROR_3");
    expect(String(await reasonOf(call.echo("x".repeat(2000))))).toContain("KNT_ERROR_3");
  });
});

describe("options", () => {
  test.each<[CreatePool]>([
    [{ balancer: "robinRound" }],
    [{ balancer: { strategy: "firstIdle" } }],
    [{ balancer: {} }],
    [{ inliner: { position: "last", batchSize: 2, dispatchThreshold: 2 } }],
    [{ worker: { runtime: "thread", timers: { spinMicroseconds: 5000, parkMs: 1 } } }],
    [{ host: { steal: false, maxBackoffMs: 3, stallFreeLoops: 1, dispatcher: "per-thread" } }],
    [{ payload: { mode: "fixed", payloadInitialBytes: 1, payloadMaxByteLength: 2 ** 20 } }],
    [{ permission: { console: true, allowImport: true } }],
    [{ permission: "unsafe", source: "./w.js", unsafe: { BufferReferenceReturn: "borrow" } }],
    [{ workerExecArgv: [] }],
  ])("%j is taken", async (options) => {
    expect(await pool({ threads: 2, ...options }).call.square(3)).toBe(9);
  });

  test("without effect are said once, and only under debug", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    pool({ host: { maxBackoffMs: 3 }, source: "./w.js" });
    expect(said).not.toHaveBeenCalled();
    await pool({ host: { maxBackoffMs: 3 }, source: "./w.js", debug: { host: true } }).call.square(
      1,
    );
    expect(said.mock.calls).toEqual([[expect.stringMatching(/host\.maxBackoffMs, source$/)]]);
  });

  test("bootstrap runs before the tasks' modules", async () => {
    const href = "./knitting-worker-only.ts";
    const bootstrap = { href, name: "prepare", data: { list: [1] } };
    expect(await pool({ threads: 1, worker: { bootstrap } }).call.state()).toEqual({
      data: { list: [1] },
      thread: 0,
      totalNumberOfThread: 1,
      runtime: runtimeName,
    });
    const failing = pool({ worker: { bootstrap: { href, name: "fail" } } });
    expect(String(await reasonOf(failing.call.square(1))))
      .toMatch(/Worker startup failed: no bootstrap/);
    expect(() => pool({ inliner: {}, worker: { bootstrap } })).toThrow(/the inliner/);
  });

  test.each<[CreatePool, RegExp]>([
    [{ worker: { runtime: "process" } }, /no process workers; leave out worker\.runtime/],
    [{ worker: { runtime: "compiled" } }, /no compiled workers; leave out/],
    [{ worker: { processRuntime: "porffor" } }, /no compiled workers/],
    [{ permission: { denyNet: ["a"], console: false } }, /cannot be denied this: denyNet, console/],
  ])("%j is refused", (options, message) => {
    expect(() => pool(options)).toThrow(message);
    expect(() => pool(options)).toThrow(UnsupportedError);
  });

  test.runIf(capabilities.deniesNet)(
    "permission is enforced where threads can be denied",
    async () => {
      const env = await pool({ permission: { mode: "strict", read: true } }).call.square(2);
      expect(env).toBe(4);
      expect(() => pool({ permission: { net: ["example.com"] } })).toThrow(/permission\.net/);
    },
  );

  test.skipIf(capabilities.permissions)("permission is refused where they cannot", () => {
    expect(() => pool({ permission: "strict" })).toThrow(/cannot enforce/);
  });

  test("too many tasks", () => {
    const tasks = Object.fromEntries(Array.from({ length: 65537 }, (_, n) => [`t${n}`, square]));
    expect(() => createPool({})(tasks)).toThrow(/Too many tasks: received 65537/);
  });
});

test.each<[string, () => unknown]>([
  ["pass the ArrayBuffer", () => new BufferReference(new Uint8Array(1))],
  ["pass a SharedArrayBuffer", () => ProcessSharedBuffer.create({ size: 1 })],
  ["use task\\(\\)", () => checkCompiledWorker("./tasks.ts")],
  ["starts its workers itself", () => workerMainLoop()],
])("what has no place here says: %s", (message, use) => {
  expect(use).toThrow(new RegExp(message));
  expect(use).toThrow(UnsupportedError);
});
