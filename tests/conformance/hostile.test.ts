/** Values, tasks and moments chosen to break a pool. Each of these once did. */
import { describe, expect, test, vi } from "vitest";
import { createPool } from "../../src/mod.ts";
import {
  closedAfterTest,
  rejection,
  settledWithin,
  testPool,
  until,
} from "../support/conformance.ts";
import { pause, runScript } from "../support/runtime.ts";

const revokedProxy = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

describe("values", () => {
  test("a revoked proxy rejects only its own call", async () => {
    const pool = testPool();
    await pool.ready;
    expect(await rejection(pool.call.echo(revokedProxy()))).toBeDefined();
    expect(await rejection(pool.call.echoAll(1, { p: revokedProxy() }))).toBeDefined();
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats().inFlight).toBe(0);
  });

  test("the traps of a proxy may call the pool", async () => {
    const { call, ready } = testPool();
    await ready;
    const inner: Promise<unknown>[] = [];
    const trap = () => {
      inner.push(call.echo("inside"));
      return Object.prototype;
    };
    const proxy = new Proxy({ a: 1 }, { getPrototypeOf: trap });
    await Promise.allSettled([call.echo(proxy), call.echoAll(1, proxy)]);
    expect(await call.echo("after")).toBe("after");
    for (const value of await Promise.all(inner)) expect(value).toBe("inside");
  });

  test("a worker keeps running after it returns or throws a revoked proxy", async () => {
    const pool = testPool();
    const sleeping = pool.call.sleep(30, "slept");
    expect(await rejection(pool.call.returnProxy())).toBeDefined();
    expect(await rejection(pool.call.returnProxyLater())).toBeDefined();
    expect(await settledWithin(pool.call.throwProxy(), 5000)).toBe("settled");
    expect(await sleeping).toBe("slept");
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats().workersLost).toBe(0);
  });

  test("deeply nested values settle and do not affect other calls", async () => {
    const { call } = testPool();
    for (const depth of [1000, 10_000, 39_998, 39_999, 40_000, 41_000]) {
      let value: unknown = 0;
      for (let level = 0; level < depth; level++) value = [value];
      expect(await settledWithin(call.echo(value), 10_000)).toBe("settled");
      expect(await settledWithin(call.nest(depth), 10_000)).toBe("settled");
      expect(await call.echo(depth)).toBe(depth);
      expect(await call.echo({ depth })).toEqual({ depth });
    }
  });

  test("a Buffer stays a Buffer beside other arguments", async () => {
    const { call } = testPool();
    const buffer = Buffer.from("abc");
    expect(await call.describeBuffers(buffer, { x: 1 }, buffer)).toBe(
      "Buffer of 3, object, Buffer of 3",
    );
  });

  test("the same error passed twice arrives as one object", async () => {
    const { call } = testPool();
    const error = new TypeError("e");
    expect(await call.isSame(error, error)).toBe(true);
    expect(await call.isSame(error, new TypeError("e"))).toBe(false);
  });

  test("the path of an uncloneable part is reported, also in cyclic values", async () => {
    const { call } = testPool();
    const root: Record<string, unknown> = { children: [], onClick: () => {} };
    (root["children"] as unknown[]).push({ parent: root });
    expect(await rejection(call.echo(root))).toMatchObject({
      message: expect.stringMatching(/^args\[0\]\.onClick cannot be cloned/),
    });
    expect(await rejection(call.returnFunction())).toMatchObject({
      message: expect.stringMatching(/^result cannot be cloned/),
    });
  });

  test("arguments beside a promise are encoded when the call is made", async () => {
    const { call } = testPool();
    const bytes = new Uint8Array([1, 2]);
    const object = { a: 1 };
    const late = pause(20).then(() => "late");
    const answer = call.echoAll(bytes, late, object, "x");
    bytes[0] = 99;
    object.a = 99;
    expect(await answer).toEqual([new Uint8Array([1, 2]), "late", { a: 1 }, "x"]);
  });
});

describe("tasks", () => {
  test("a promise that settles twice sends one response", async () => {
    const pool = testPool();
    for (let round = 0; round < 3; round++) {
      expect(await pool.call.answerTwice()).toBe(1);
      expect(await Promise.all([1, 2, 3].map((n) => pool.call.echo(n)))).toEqual([1, 2, 3]);
    }
    expect(pool.stats()).toMatchObject({ lateResponses: 0, workersLost: 0 });
  });

  test("messages that a task posts itself are events, and disturb nothing", async () => {
    const pool = testPool();
    const posted: unknown[] = [];
    pool.addEventListener("message", ({ detail }) => posted.push(detail.message));
    await pool.call.postJunk();
    await until(() => posted.length >= 5);
    // 0 is heddle's own.
    expect(posted).toEqual([null, "text", { type: "ready" }, [], 7n]);
    await pause(50);
    expect(await pool.call.add(1, 1)).toBe(2);
    expect(pool.stats().workersLost).toBe(0);
  });

  test("an exception that cannot be printed ends the worker with HEDDLE_WORKER_LOST", async () => {
    const pool = testPool();
    expect(await rejection(pool.call.throwOdd())).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(await pool.call.add(1, 1)).toBe(2);
  });

  test("an unhandled rejection that cannot be printed is reported", async () => {
    const pool = testPool();
    const reported = new Promise((resolve) => {
      pool.addEventListener("unhandledRejection", (event) => {
        event.preventDefault();
        resolve(event.detail.error);
      });
    });
    await pool.call.rejectOdd();
    expect(await reported).toBeInstanceOf(Error);
    expect(await pool.call.add(1, 1)).toBe(2);
  });
});

describe("capacity", () => {
  test("calls that wait for space in the request ring are sent when the worker releases records", async () => {
    const { call } = testPool({ ringBytes: 1024 });
    const ballast = "x".repeat(200);
    const together = Promise.all(Array.from({ length: 8 }, () => call.barrier(8, ballast)));
    expect(await together).toEqual(new Array(8).fill(8));
  });

  test("one worker runs 2,500 async calls below maxConcurrency", async () => {
    const { call } = testPool({ maxConcurrency: 3000 });
    const together = Promise.all(Array.from({ length: 2500 }, () => call.barrier(2500)));
    expect(await together).toEqual(new Array(2500).fill(2500));
  });

  test("a stack that overflows in the first call of a generator leaves it usable", async () => {
    const url = new URL("../fixtures/stream-edge-tasks.ts", import.meta.url);
    const pool = closedAfterTest(
      createPool({ threads: 1 })<typeof import("../fixtures/stream-edge-tasks.ts")>(url),
    );
    await pool.ready;
    let left = 1000; // frames from the end of the stack, in which a call finds more and more room
    const overflow = (): void => {
      try {
        overflow();
      } catch (error) {
        try {
          if (left-- > 0) void pool.call.count(1);
        } catch {
          // There is no room for it.
        }
        throw error;
      }
    };
    expect(overflow).toThrow(RangeError);
    expect(await pool.call.count(3).toArray()).toHaveLength(3);
  });

  test("a stack that overflows within a call leaves the pool usable", async () => {
    const { code, output } = await runScript("overflow.ts");
    expect({ code, output: output.split("\n").at(-2) }).toEqual({ code: 0, output: "usable 1" });
  });
});

describe("lifecycle", () => {
  test("shutdown does not wait for a call interrupted by a stack overflow", async () => {
    expect((await runScript("overflow-shutdown.ts")).output.split("\n").at(-2)).toBe("closed");
  });

  test("the process exits after the pool closes with a call in flight", async () => {
    const { code, output } = await runScript("closed-in-flight.ts");
    expect({ code, output }).toEqual({ code: 0, output: "closed\nPoolClosedError\n" });
  });

  test("the process exits after a promise argument rejects", async () => {
    const { code, output } = await runScript("rejected-argument.ts");
    expect({ code, output }).toEqual({ code: 0, output: "rejected\n" });
    const pool = testPool();
    await pool.ready;
    const late = pause(20).then(() => Promise.reject(new Error("late")));
    const call = rejection(pool.call.echo(late));
    await pool.shutdown(Infinity); // never ends if the rejection does not count as settled
    expect(await call).toMatchObject({ message: "late" });
  });

  test("no worker starts after an event listener closes the pool", async () => {
    const pool = testPool();
    await pool.ready;
    const closed = new Promise<void>((resolve) => {
      pool.addEventListener("workerExit", () => void pool.shutdown().then(resolve));
    });
    await rejection(pool.call.exit(1));
    await closed;
    await pause(600);
    expect(pool.stats()).toMatchObject({ ready: 0, workersStarted: 1 });
  });

  test("a worker that exits while the pool closes is not replaced", async () => {
    const pool = testPool();
    await pool.ready;
    const exit = rejection(pool.call.exit(1));
    await pool.shutdown();
    expect(await exit).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(pool.stats().workersStarted).toBe(1);
  });

  test("shutdown(Infinity) waits for all calls", async () => {
    const pool = testPool();
    const call = pool.call.sleep(100, "done");
    await pool.shutdown(Infinity);
    expect(await call).toBe("done");
  });

  test("options that cannot be printed are refused with a code", async () => {
    const odd = Object.create(null) as never;
    expect(() => testPool({ threads: odd })).toThrow(
      expect.objectContaining({ code: "HEDDLE_INVALID_ARGUMENT" }),
    );
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    expect(await rejection(testPool().shutdown({ timeoutMs: odd }))).toMatchObject({
      code: "HEDDLE_INVALID_ARGUMENT",
    });
    print.mockRestore();
  });
});
