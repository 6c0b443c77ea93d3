/** `with()`: chains of it, and options that depend on those of the task. */
import { describe, expect, test } from "vitest";
import {
  createPool,
  InvalidArgumentError,
  type Pool,
  type PoolOptions,
  TimeoutError,
  transfer,
} from "../../src/mod.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/stream-tasks.ts");

const url = new URL("../fixtures/stream-tasks.ts", import.meta.url);
const earlyPool = (options: PoolOptions = { threads: 1 }): Pool<Tasks> =>
  closedAfterTest(createPool(options)<Tasks>(url));

async function readyPool(options?: PoolOptions): Promise<Pool<Tasks>> {
  const pool = earlyPool(options);
  await pool.ready;
  return pool;
}

describe.each([["known", readyPool], ["not known yet", earlyPool]])("tasks %s", (_, create) => {
  test("options of a chain are merged", async () => {
    const pool = await create();
    const events: unknown[] = [];
    const base = pool.call.progress.with({ onEvent: (event) => events.push(event) });
    expect(await base.with({ priority: "high" }).with({ runTimeoutMs: 10_000 })(2)).toBe(
      "finished",
    );
    expect(events).toEqual([{ n: 0 }, { n: 1 }]);
    const limited = pool.call.sleepFor.with({ runTimeoutMs: 5 });
    expect(await rejection(limited.with({ priority: 1 })(60_000))).toBeInstanceOf(TimeoutError);
    expect(await limited.with({ runTimeoutMs: 60_000 })(20)).toBe("slept");
    expect(await limited.with({ runTimeoutMs: 5, timeoutValue: "late" })(60_000)).toBe("late");
    expect(await rejection(limited(60_000))).toBeInstanceOf(TimeoutError);
    const stream = pool.call.count.with({ priority: 1 }).with({ runTimeoutMs: 10_000 });
    expect(await stream(0, 3).toArray()).toEqual([0, 1, 2]);
  });

  test("each signal of a chain aborts", async () => {
    const pool = await create();
    for (const aborting of [0, 1]) {
      const controllers = [new AbortController(), new AbortController()];
      let call = pool.call.sleepFor.with({ priority: 1 });
      for (const { signal } of controllers) call = call.with({ signal });
      const result = call.with({ signal: null })(60_000);
      controllers[aborting]!.abort(new RangeError(`signal ${aborting}`));
      expect(await rejection(result)).toEqual(new RangeError(`signal ${aborting}`));
    }
    const foreign = Object.assign(new EventTarget(), {
      aborted: false,
      reason: undefined as unknown,
    });
    const base = pool.call.sleepFor.with({ signal: foreign as unknown as AbortSignal });
    const result = base.with({ signal: new AbortController().signal })(60_000);
    Object.assign(foreign, { aborted: true, reason: new RangeError("foreign") });
    foreign.dispatchEvent(new Event("abort"));
    expect(await rejection(result)).toEqual(new RangeError("foreign"));
  });

  test("a broadcast's options are merged too", async () => {
    const pool = await create();
    const { broadcast } = pool;
    expect(await broadcast.square.with({ runTimeoutMs: 10_000 }).with({ priority: 1 })(3)).toEqual([
      9,
    ]);
    const controller = new AbortController();
    const call = broadcast.sleepFor.with({ signal: controller.signal }).with({
      runTimeoutMs: 60_000,
    });
    const result = call(60_000);
    controller.abort(new RangeError("enough"));
    expect(await rejection(result)).toBeDefined();
  });

  test("retries override those of the task", async () => {
    const pool = await create();
    expect(await pool.call.idempotent.with({ retries: 5 })(1)).toBe(1);
    expect(await pool.call.urgent.with({ retries: 0 })(2)).toBe(4);
    const { square } = pool.call;
    expect(await square.with({ retries: 3 }).with({ retries: 5 })(2)).toBe(4);
    for (const retries of [-1, 0.5, 1001, "3"]) {
      expect(() => square.with({ retries: retries as number })).toThrow(
        /retries must be an integer from 0 to 1000/,
      );
    }
    expect(() => square.with({ idempotent: true } as never)).toThrow(InvalidArgumentError);
  });

  test("views in the list of what moves stand for their buffers", async () => {
    const pool = await create();
    const view = (): Uint8Array => new Uint8Array(1000);
    const [a, b, c, d] = [view(), view(), view(), view()];
    expect(await pool.call.lengthOf.with({ transfer: [a] })(a)).toBe(1000);
    expect(await pool.call.lengthOf.with({ transfer: [b, b.subarray(1), b.buffer] })(b)).toBe(1000);
    expect(await pool.call.lengthOf(transfer({ length: 5, c }, [c]))).toBe(5);
    const both = pool.call.lengthOf.with({ transfer: [d] }).with({
      transfer: [new ArrayBuffer(1)],
    });
    expect(await both(d)).toBe(1000);
    expect([a.length, b.length, c.length, d.length]).toEqual([0, 0, 0, 0]);
  });

  test("what cannot move is refused with its place", async () => {
    const pool = await create();
    const { lengthOf } = pool.call;
    const shared = new SharedArrayBuffer(8);
    const slice = Buffer.from(new ArrayBuffer(16), 4, 4);
    for (const item of [{}, [], 5, null, shared, new Uint8Array(shared), slice]) {
      const list = [new ArrayBuffer(1), item] as object[];
      expect(() => lengthOf.with({ transfer: list })).toThrow("Item 1 of with({ transfer })");
      expect(() => transfer({ length: 1 }, list)).toThrow("Item 1 of the list of transfer()");
    }
    expect(() => transfer("text", new ArrayBuffer(1) as never)).toThrow(
      "transfer(value, [buffer])",
    );
    expect(() => transfer(shared)).toThrow("shared memory");
    expect(() => transfer("text")).toThrow("cannot move");
    const map = new Map();
    const refused = rejection(lengthOf(transfer({ length: 1, map }, [map])));
    expect(String(await refused)).toContain("the list of what moves (transfer) takes ArrayBuffers");
    expect(() => transfer({ shared })).toThrow("transfer(value, [buffer])");
  });
});

test("a function of with() that was made before its task was known checks its options then", async () => {
  const pool = earlyPool();
  const stream = pool.call.count.with({ onEvent: () => {} });
  await pool.ready;
  expect(await rejection(stream(0, 1).next())).toBeInstanceOf(InvalidArgumentError);
  expect(() => pool.call.count.with({ onEvent: () => {} })).toThrow(InvalidArgumentError);
});
