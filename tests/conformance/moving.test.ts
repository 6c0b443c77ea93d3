/** Values that do not cross as copies of whatever comes: declared, borrowed, moved, limited. */
import { isMarkedAsUntransferable, markAsUntransferable } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import { borrow, createPool, f64, importTask, struct, transfer, view } from "../../src/mod.ts";
import { createMovingPool, type MovingPool, Point, type Track } from "../fixtures/moving-tasks.ts";
import { rejection } from "../support/conformance.ts";
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

describe("declared shapes", () => {
  test("arguments and results of every size arrive before and after the worker is ready", async () => {
    const { call, ready } = pool({ ringBytes: 4096 });
    const early = call.echoTrack(track(3)); // held: no worker is ready yet
    await ready;
    expect(await early).toEqual(track(3));
    for (const points of [0, 1, 40, 5000]) {
      expect(await call.echoTrack(track(points))).toEqual(track(points));
    }
    expect(await call.echoTrack({ ...track(1), note: "ü".repeat(1000) })).toMatchObject({
      note: "ü".repeat(1000),
    });
    expect(await call.mirror({ x: 1, y: -0 })).toEqual({ x: -0, y: 1 });
    const many = Array.from({ length: 500 }, (_, x) => call.mirror({ x, y: 0 }));
    expect((await Promise.all(many)).map(({ y }) => y)).toEqual([...many.keys()]);
    expect(await call.echoTrackLater(track(2), 1)).toEqual(track(2));
    expect(await call.echoTrackLater(Promise.resolve(track(2)), Promise.resolve(1))).toEqual(
      track(2),
    );
  });

  test("a mismatch is refused with its path, the expected type and the actual value", async () => {
    const { call } = pool();
    const bad = { ...track(2), points: [{ x: 1, y: 2 }, { x: 1, y: "2" as unknown as number }] };
    expect(await rejection(call.echoTrack(bad))).toMatchObject({
      code: "HEDDLE_STRUCT_MISMATCH",
      path: "args[0].points[1].y",
      got: expect.stringContaining('"2"'),
    });
    expect(await rejection((call.mirror as unknown as () => Promise<unknown>)())).toMatchObject({
      code: "HEDDLE_STRUCT_MISMATCH",
      path: "args[0]",
    });
    const wrong = await rejection(call.wrongResult());
    expect((wrong as Error).message).toMatch(/^result\.y must be .*got "two"/);
    expect(await call.mirror({ x: 1, y: 2 })).toEqual({ x: 2, y: 1 });
  });

  test("a view reads in place until a synchronous task returns, and without limit in an async task", async () => {
    const { call } = pool({ ringBytes: 4096 });
    expect(await call.lengthOf(track(11), 2)).toBeCloseTo(20 * Math.sqrt(5));
    expect(await call.lengthOf(track(1001), 1)).toBeCloseTo(1000 * Math.sqrt(5));
    expect(await call.keepView(track(1))).toBe("Прогулка");
    expect(await rejection(call.nameOfKept())).toMatchObject({ code: "HEDDLE_BORROW_EXPIRED" });
    expect(await call.viewLater(track(2))).toEqual(track(2));
    for (const part of ["all", "points", "heights"]) {
      expect(((await rejection(call.giveView(track(2), part))) as Error).message).toMatch(
        /^result\.part .*it is a view: copy what it shows/,
      );
    }
  });
});

describe("borrowed bytes", () => {
  const bytes = Uint8Array.from({ length: 40 }, (_, index) => index);
  new DataView(bytes.buffer).setFloat64(8, 1.25, true);

  test("are read in place, by every accessor", async () => {
    const { call } = pool();
    expect(await call.readBorrowed(borrow(bytes))).toEqual({
      length: 40,
      first: 0,
      last: 39,
      none: undefined,
      float: 1.25,
      big: 0x00010203,
      little: 0x03020100,
      index: 7,
      slice: new Uint8Array([2, 3, 4]),
    });
    expect(bytes[1]).toBe(1);
  });

  test("arrive at every size and kind, inline and by message", async () => {
    const { call } = pool({ ringBytes: 4096 });
    for (const length of [0, 1, 7, 1000, 5000, 300_000]) {
      const list = new Uint8Array(length).fill(3);
      expect(await call.sumBorrowed(borrow(list))).toBe(3 * length);
      expect(await call.sumBorrowed(borrow(list.buffer))).toBe(3 * length);
      expect(await call.sumBorrowed(borrow(list.subarray(length >> 1)))).toBe(
        3 * (length - (length >> 1)),
      );
    }
    expect(await call.sumBorrowed(borrow(new Float64Array(2)))).toBe(0);
    expect(await call.sumBorrowed(borrow(bytes), Promise.resolve(false))).toBeGreaterThan(0);
  });

  test("cannot be read after the task returns or awaits", async () => {
    const { call } = pool();
    await call.sumBorrowed(borrow(bytes), true);
    expect(await rejection(call.useKept())).toMatchObject({ code: "HEDDLE_BORROW_EXPIRED" });
    expect(await rejection(call.borrowAndPromise(borrow(bytes)))).toMatchObject({
      code: "HEDDLE_BORROW_EXPIRED",
      length: 40,
    });
    expect(await call.borrowAsync(borrow(new TextEncoder().encode("abcd")))).toEqual([
      4,
      100,
      "abc",
    ]);
    expect(await rejection(call.throwWithBorrowed(borrow(bytes)))).toMatchObject({
      message: "got 40",
    });
  });

  test("release their space in the ring after each call", async () => {
    const { call } = pool({ ringBytes: 4096 });
    const list = new Uint8Array(900).fill(1);
    const sums = Array.from({ length: 300 }, () => call.sumBorrowed(borrow(list)));
    expect(new Set(await Promise.all(sums))).toEqual(new Set([900]));
  });

  test("values that cannot be borrowed are refused", () => {
    for (const bad of [null, "text", {}, [1]]) {
      expect(() => borrow(bad as unknown as Uint8Array)).toThrow(/borrow\(\) takes/);
    }
  });
});

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

describe("promises among the arguments", () => {
  const three = (pool: MovingPool) => pool.call.echoAll as (...args: unknown[]) => Promise<unknown>;

  test("do not affect how the other arguments arrive", async () => {
    const { call } = pool();
    const bytes = new Uint8Array([1, 2, 3]);
    const nested = { list: [borrow(bytes)] };
    const sum = call.sumNested as (...args: unknown[]) => Promise<unknown>;
    expect(await sum(nested)).toBe(6);
    expect(await sum(nested, Promise.resolve(1))).toBe(6);
    class Computed {
      get x() {
        return 1;
      }
      get y() {
        return 2;
      }
    }
    expect(await call.mirror(new Computed())).toEqual({ x: 2, y: 1 });
    expect(await call.lengthOf(track(3), Promise.resolve(2))).toBeCloseTo(4 * Math.sqrt(5));
    expect(await call.lengthOf(Promise.resolve(track(3)), 2)).toBeCloseTo(4 * Math.sqrt(5));
  });

  test("settle in any number and order and preserve identity among the others", async () => {
    const made = pool();
    const shared = { a: 1 };
    const [a, b, c, d] = await three(made)(
      Promise.resolve("first"),
      shared,
      new Promise((resolve) => setTimeout(resolve, 5, [shared])),
      shared,
    ) as unknown[];
    expect([a, b, c]).toEqual(["first", { a: 1 }, [{ a: 1 }]]);
    expect(d).toBe(b);
    expect(await made.call.echo(Promise.resolve({ only: 1 }))).toEqual({ only: 1 });
    expect(await made.call.mirror(Promise.resolve({ x: 1, y: 2 }))).toEqual({ x: 2, y: 1 });
    const large = new Uint8Array(300_000).fill(1);
    const text = "x".repeat(2_000_000);
    expect(await three(made)(large, Promise.resolve(text), text)).toEqual([large, text, text]);
    expect(await rejection(three(made)(1, Promise.resolve(() => {})))).toMatchObject({
      code: "HEDDLE_DATA_CLONE",
    });
  });
});

describe("importTask of a declared task", () => {
  const href = new URL("../fixtures/moving-tasks.ts", import.meta.url);

  test("works with the same declaration and fails the pool with a different one", async () => {
    const same = importTask<(point: { x: number; y: number }) => { x: number; y: number }>({
      href,
      name: "mirror",
      args: [Point],
      returns: Point,
    });
    const right = createPool({ threads: 1 })({ mirror: same });
    expect(await right.call.mirror({ x: 1, y: 2 })).toEqual({ x: 2, y: 1 });
    await right.shutdown();
    // Of the same size, but something else.
    const Other = struct({ x: f64, z: f64 });
    const others = [
      {},
      { args: [Point] },
      { args: [view(Point)], returns: Point },
      { args: [Other], returns: Other },
    ];
    for (const wrong of others) {
      const made = createPool({ threads: 1 })({
        mirror: importTask({ href, name: "mirror", ...wrong }),
      });
      const error = await rejection(made.ready);
      expect(error).toMatchObject({ code: "HEDDLE_WORKER_START" });
      expect((error as Error).message).toMatch(/declares args: \[struct \{ "/);
      await made.shutdown();
    }
  });
});

describe("maxPayloadBytes", () => {
  test("does not count heddle's own records", async () => {
    const made = pool({ maxPayloadBytes: 400, ringBytes: 4096 });
    const objects = Array.from({ length: 60 }, (_, n) => ({ [`key ${n}`]: n, [`more ${n}`]: n }));
    const calls = [...objects, ...objects].map((object) => made.call.echo(object)); // held
    expect(await Promise.all(calls)).toEqual([...objects, ...objects]);
    expect(await Promise.all(objects.map((each) => made.call.echo(each)))).toEqual(objects);
    await rejection(made.call.exit()); // the next worker is told all of it anew
    for (const object of objects) expect(await made.call.echo(object)).toEqual(object);
  });

  test("rejects only larger arguments and results", async () => {
    const { call } = pool({ maxPayloadBytes: 1000, ringBytes: 4096 });
    const values = [
      "x".repeat(2000),
      new Uint8Array(5000),
      new Uint8Array(500_000),
      Buffer.alloc(100_000),
      Array.from({ length: 100 }, () => ({ a: "b" })),
    ];
    for (const large of values) {
      expect(await rejection(call.echo(large))).toMatchObject({
        name: "PayloadTooLargeError",
        code: "HEDDLE_PAYLOAD_TOO_LARGE",
        maxBytes: 1000,
      });
    }
    expect(await rejection(call.makeText(3000))).toMatchObject({
      code: "HEDDLE_PAYLOAD_TOO_LARGE",
    });
    expect(await call.makeText(900)).toHaveLength(900);
    expect(await call.echo("x".repeat(900))).toBe("x".repeat(900));
    // What moves takes no memory.
    expect(await call.takeAndGive(transfer(new Uint8Array(100_000)))).toHaveLength(100_000);
  });
});
