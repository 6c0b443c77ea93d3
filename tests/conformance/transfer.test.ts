/** Buffers and ports that move. */
import { isMarkedAsUntransferable, markAsUntransferable } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import { borrow, createPool, type Pool, type PoolOptions, transfer } from "../../src/mod.ts";
import { createMovingPool, type MovingPool, type Track } from "../fixtures/transfer-tasks.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";
import { capabilities } from "../support/runtime.ts";

const open = new Set<MovingPool>();

function pool(options: Parameters<typeof createMovingPool>[0] = {}): MovingPool {
  const made = createMovingPool(options);
  open.add(made);
  return made;
}

afterEach(async () => {
  const pools = [...open];
  open.clear();
  for (const each of pools) {
    await each.shutdown(100);
    const { safetyHits, inFlight } = each.stats();
    expect({ safetyHits, inFlight }).toEqual({ safetyHits: 0, inFlight: 0 });
  }
});

const track = (points: number): Track => ({
  id: 7,
  name: "Прогулка",
  isOpen: true,
  start: { x: -0, y: NaN },
  points: Array.from({ length: points }, (_, index) => ({ x: index, y: 2 * index })),
  heights: [0.5, -1, 1e300],
});

type Tasks = typeof import("../fixtures/module-tasks.ts");

const url = new URL("../fixtures/module-tasks.ts", import.meta.url);

const createIdle = (options: PoolOptions = { threads: 3 }): Pool<Tasks> =>
  closedAfterTest(createPool(options)<Tasks>(url));

async function createReady(options?: PoolOptions): Promise<Pool<Tasks>> {
  const pool = createIdle(options);
  await pool.ready;
  return pool;
}

describe("transferred buffers", () => {
  test("travel both ways without a copy and are detached immediately", async () => {
    const { call, ready } = pool();
    for (const isReady of [false, true]) {
      if (isReady) await ready;
      const bytes = new Uint8Array(1 << 20).fill(1);
      const answer = call.takeAndGive(transfer(bytes));
      expect(bytes.length).toBe(0);
      const back = await answer;
      expect([back.length, back[0], back[1]]).toEqual([1 << 20, 2, 1]);
    }
    expect(await call.giveNested(10)).toEqual({ bytes: new Uint8Array(10).fill(5), length: 10 });
    await call.giveAway(100);
    expect(await call.lengthOfGiven()).toBe(0);
  });

  const megabytes = (count: number) =>
    Array.from({ length: count }, (_, index) => new Uint8Array(1 << 20).fill(index));

  test("arrive in large numbers between small calls", async () => {
    for (const threads of [1, 2]) {
      const { call } = pool({ threads });
      for (let round = 0; round < 2; round++) {
        const sent = megabytes(40);
        const back = sent.map((bytes) => call.takeAndGive(transfer(bytes)));
        const small = call.echo("small");
        const large = call.takeAndGive(transfer(new Uint8Array(30 << 20).fill(7)));
        expect(sent.map(({ length }) => length)).toEqual(sent.map(() => 0));
        expect((await Promise.all(back)).map((bytes) => [bytes.length, bytes[0], bytes[1]]))
          .toEqual(sent.map((_, index) => [1 << 20, index + 1, index]));
        expect(await small).toBe("small");
        expect((await large)[0]).toBe(8);
      }
    }
  });

  test("are detached immediately even if they have to wait for space", async () => {
    const gate = new Int32Array(new SharedArrayBuffer(4)).fill(1);
    // By the limit of what is away at once (Node), and by the ring, whose last bytes are too few for a record.
    for (const [ringBytes, length] of [[undefined, 1 << 20], [1024, 8]] as const) {
      const { call } = pool(ringBytes === undefined ? {} : { ringBytes });
      for (let known = 0; known < 8; known++) { // as quick, so that a worker is given more than two
        await call.giveThrough(gate, transfer(new Uint8Array(8)));
      }
      for (let filled = 0; filled < (ringBytes === undefined ? 1 : 20); filled++) {
        Atomics.store(gate, 0, 0);
        const filler = "x".repeat(8 * filled);
        const sent = Array.from({ length: 20 }, (_, n) => new Uint8Array(length).fill(n));
        const back = sent.map((bytes) => call.giveThrough(gate, transfer(bytes), filler));
        expect(sent.map((bytes) => bytes.length)).toEqual(sent.map(() => 0));
        Atomics.store(gate, 0, 1);
        Atomics.notify(gate, 0);
        expect((await Promise.all(back)).map((bytes) => bytes[1])).toEqual([...back.keys()]);
      }
    }
  });

  test("can be kept by async tasks in any number", async () => {
    const { call } = pool();
    const count = 40;
    const begun = new Int32Array(new SharedArrayBuffer(4));
    const back = megabytes(count).map((bytes) => call.gather(transfer(bytes), begun, count));
    expect((await Promise.all(back)).map((bytes) => bytes[1])).toEqual([...back.keys()]);
  });

  test("arrive inside other values, repeatedly, and as a Buffer", async () => {
    const { call } = pool();
    const shared = new ArrayBuffer(64);
    const value = { a: new Uint8Array(shared), b: [new Float64Array(shared, 8, 2), shared] };
    const arrived = await call.echo(transfer(value, [shared])) as typeof value;
    expect(shared.byteLength).toBe(0);
    expect(arrived.b[1]).toBe(arrived.a.buffer);
    const buffer = Buffer.alloc(70_000, 4);
    const moved = await call.echo(transfer(buffer)) as Buffer;
    expect([Buffer.isBuffer(moved), moved.length, moved[69_999]]).toEqual([true, 70_000, 4]);
    expect(buffer.length).toBe(0);
    const resizable = new ArrayBuffer(8, { maxByteLength: 32 });
    const grown = await call.echo(transfer(resizable)) as ArrayBuffer;
    expect([grown.resizable, grown.maxByteLength, resizable.byteLength]).toEqual([true, 32, 0]);
  });

  test("a listed buffer outside the value is detached", async () => {
    const { call } = pool();
    const other = new ArrayBuffer(8);
    expect(await call.echo(transfer({ a: 1 }, [other]))).toEqual({ a: 1 });
    expect(other.byteLength).toBe(0);
    const { port1, port2 } = new MessageChannel();
    await call.echo(transfer({ a: 1 }, [port2]));
    expect(() => structuredClone(port2, { transfer: [port2] })).toThrow();
    port1.close();
  });

  test("ports are transferred", async () => {
    const { call } = pool();
    const { port1, port2 } = new MessageChannel();
    const heard = new Promise((resolve) => port1.onmessage = ({ data }) => resolve(data));
    await call.portEcho(transfer(port2));
    port1.postMessage({ ping: 1 });
    expect(await heard).toEqual(["from the worker", { ping: 1 }]);
    port1.close();
  });

  test("are transferred beside promise arguments", async () => {
    const { call } = pool();
    const bytes = new Uint8Array([1, 2, 3]);
    const two = call.echo as (...args: unknown[]) => Promise<unknown>;
    const answer = two(transfer(bytes), Promise.resolve(1));
    expect(bytes.length).toBe(0);
    expect(await answer).toEqual(new Uint8Array([1, 2, 3]));
  });

  test("values that cannot be transferred are refused and do not affect other calls", async () => {
    const { call } = pool();
    expect(() => transfer({ a: 1 })).toThrow(/needs a list/);
    expect(() => transfer(5)).toThrow(/is 5, which cannot move/);
    expect(() => transfer({}, [new SharedArrayBuffer(1)])).toThrow(/SharedArrayBuffer/);
    expect(() => transfer(Buffer.alloc(64).subarray(1, 9))).toThrow(/slice of a larger/);
    const gone = new ArrayBuffer(8);
    gone.transfer();
    expect(await rejection(call.echo(transfer(gone)))).toMatchObject({ code: "HEDDLE_DATA_CLONE" });
    expect(await call.echo(1)).toBe(1);
  });

  test("bytes detached before or after borrow() are refused", async () => {
    const { call } = pool();
    const resizable = () => new ArrayBuffer(16, { maxByteLength: 32 });
    const [shrunk, detached, later, shrinking] = [
      resizable(),
      new ArrayBuffer(8),
      new Uint8Array(8),
      resizable(),
    ];
    const [beyond, view8] = [new Uint8Array(shrunk, 8, 8), new DataView(detached)];
    const borrows = [borrow(later), borrow(new Uint8Array(shrinking, 8, 8))];
    shrunk.resize(4);
    shrinking.resize(4);
    for (const buffer of [detached, later.buffer]) structuredClone(buffer, { transfer: [buffer] });
    for (const gone of [beyond, view8, detached]) {
      expect(() => borrow(gone)).toThrow(
        expect.objectContaining({ code: "HEDDLE_INVALID_ARGUMENT" }),
      );
    }
    for (const range of borrows) {
      expect(await rejection(call.echo(range))).toMatchObject({
        code: "HEDDLE_DATA_CLONE",
        message: expect.stringMatching(/^args\[0\] .*gone/),
      });
    }
  });

  test("refusals contain the path inside transfer() and promises", async () => {
    const { call } = pool();
    const echoAll = call.echoAll as (...args: unknown[]) => Promise<unknown>;
    const bad = () => ({ user: { onClick() {} }, x: new ArrayBuffer(1) });
    const given = () => {
      const value = bad();
      return transfer(value, [value.x]);
    };
    const messageOf = async (...args: unknown[]) =>
      (await rejection(echoAll(...args)) as Error).message;
    expect(await messageOf(1, given())).toMatch(/^args\[1\]\.user\.onClick /);
    expect(await messageOf(1, { p: given() })).toMatch(/^args\[1\]\.p\.user\.onClick /);
    expect(await messageOf(1, new Map([["k", given()]]))).toMatch(
      /^args\[1\]\.get\(k\)\.user\.onClick /,
    );
    expect(await messageOf(1, Promise.resolve(bad()))).toMatch(/^args\[1\]\.user\.onClick /);
    const misfit = call.mirror(Promise.resolve({ x: 1, y: "no" }) as never);
    expect(await rejection(misfit)).toMatchObject({ path: "args[0].y" });
  });

  test("borrows and views expire on the host as in a worker", async () => {
    const made = pool({ inliner: { position: "first", batchSize: 100 } });
    await made.ready;
    expect(await made.call.keepView(track(2))).toBe("Прогулка");
    expect(await rejection(made.call.nameOfKept())).toMatchObject({
      code: "HEDDLE_BORROW_EXPIRED",
    });
    expect(await rejection(made.call.giveView(track(2), "points"))).toMatchObject({
      code: "HEDDLE_DATA_CLONE",
    });
    expect(await made.call.lengthOf(track(3), 2)).toBeCloseTo(4 * Math.sqrt(5));
    expect(made.stats().inlined).toBe(4);
  });

  test("a port transferred with an aborted call is closed", async () => {
    const made = pool();
    await made.ready;
    const { port1, port2 } = new MessageChannel();
    const closed = new Promise((resolve) => port2.addEventListener("close", resolve));
    port2.start();
    const controller = new AbortController();
    const { signal } = controller;
    const words = new Int32Array(new SharedArrayBuffer(8));
    const long = made.call.holdUntil(words);
    const call = made.call.echo.with({ signal })(transfer({ port1 }, [port1]));
    while (Atomics.load(words, 1) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort();
    expect(await rejection(call)).toMatchObject({ name: "AbortError" });
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    await long;
    if (capabilities.tellsOfClosedPorts) await closed;
    port2.close();
  });

  test("WebAssembly memory is never transferred, from the host or from a task", async () => {
    const refused = {
      code: "HEDDLE_DATA_CLONE",
      message: expect.stringMatching(/cannot be moved/),
    };
    const made = pool();
    const { buffer } = new WebAssembly.Memory({ initial: 1 });
    const waiting = rejection(made.call.echo(transfer(buffer))); // its worker is starting
    await made.ready;
    expect(await rejection(made.call.echo(transfer(buffer)))).toMatchObject(refused);
    expect(await waiting).toMatchObject(refused);
    expect(buffer.byteLength).toBe(65536);
    expect(await rejection(made.call.giveWasmMemory())).toMatchObject(refused);
    expect(await made.call.echo(transfer(new ArrayBuffer(3)))).toEqual(new ArrayBuffer(3));
  });

  test("untransferable buffers are never transferred", async () => {
    const refused = {
      code: "HEDDLE_DATA_CLONE",
      message: expect.stringMatching(/marked as untransferable/),
    };
    const made = pool();
    const buffer = new ArrayBuffer(8);
    markAsUntransferable(buffer);
    const waiting = rejection(made.call.echo(transfer(buffer))); // its worker is starting
    await made.ready;
    expect(await rejection(made.call.echo(transfer(buffer)))).toMatchObject(refused);
    expect(await waiting).toMatchObject(refused);
    expect(buffer.byteLength).toBe(8);
    const { buffer: shown } = Buffer.from("abc"); // a part of Node's pool
    if (isMarkedAsUntransferable(shown)) {
      const bytes = new Uint8Array(shown, 0, 3);
      expect(await rejection(made.call.echo(transfer(bytes)))).toMatchObject(refused);
      expect(shown.byteLength).toBeGreaterThan(0);
    }
    expect(await made.call.echo(transfer(new ArrayBuffer(3)))).toEqual(new ArrayBuffer(3));
  });

  test("results that wait for space are detached from their task", async () => {
    const made = pool({ ringBytes: 4096 });
    await made.ready;
    const isGone = new Int32Array(new SharedArrayBuffer(4));
    for (let known = 0; known < 8; known++) await made.call.giveWithText(0); // as quick
    await made.call.watchGiven(4, isGone);
    const given = Array.from({ length: 8 }, () => made.call.giveWithText(850)); // three fit
    const end = performance.now() + 20_000;
    while (Atomics.load(isGone, 0) === 0 && performance.now() < end); // and no answer is taken
    expect(isGone[0]).toBe(1);
    for (const { bytes } of await Promise.all(given)) expect(bytes).toEqual(new Uint8Array(8));
  });
});

describe("with({ transfer })", () => {
  test("moves objects of all arguments", async () => {
    const { call } = await createReady({ threads: 1 });
    const [one, other] = [new Uint8Array(10), new Uint8Array(300_000)];
    const moving = call.lengths.with({ transfer: [one.buffer, other.buffer] });
    const result = moving(one, other);
    expect([one.length, other.length]).toEqual([0, 0]);
    expect(await result).toEqual([10, 300_000]);
  });

  test("moves nothing in a call that is refused", async () => {
    const { call } = await createReady({ threads: 1 });
    const bytes = new Uint8Array(10);
    await expect(
      call.workerOf.with({ transfer: [bytes.buffer] })({ bytes, f: () => 1 } as never),
    ).rejects.toMatchObject({ code: "HEDDLE_DATA_CLONE" });
    expect(bytes.length).toBe(10);
    expect(() => call.lengths.with({ transfer: bytes as never })).toThrow(
      /transfer must be an array/,
    );
  });
});
