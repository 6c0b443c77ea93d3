/** Channels: order, ends, deaths, `select`. */
import { describe, expect, test } from "vitest";
import { callback, createPool } from "../../src/mod.ts";
import {
  AtomicCounter,
  channel,
  Event,
  type Receiver,
  select,
  type Sender,
  timer,
} from "../../src/mod-shared.ts";
import { createSharedPool, type SharedPool } from "../fixtures/shared-tasks.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

const pool = (...args: Parameters<typeof createSharedPool>): SharedPool =>
  closedAfterTest(createSharedPool(...args));

async function all<T>(receiver: Receiver<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of receiver) values.push(value);
  return values;
}

describe("values", () => {
  test("come in order, each once, from a worker to the host", async () => {
    const { call } = pool();
    const [sender, receiver] = channel<number>({ capacity: 3 });
    const produced = call.produce([sender, 0, 2000]);
    sender.close();
    expect(await all(receiver)).toEqual(Array.from({ length: 2000 }, (_, n) => n));
    await produced;
  });

  test("of several senders reach several receivers, each once and in the order of its sender", async () => {
    const { call } = pool({ threads: 4 });
    const [sender, receiver] = channel<number>({ capacity: 16 });
    const received = [call.consume(receiver), call.consume(receiver)];
    const sent = [call.produce([sender, 0, 1000]), call.produce([sender, 10_000, 1000])];
    sender.close();
    receiver.close();
    await Promise.all(sent);
    const lists = await Promise.all(received);
    const expected = [0, 10_000].flatMap((from) =>
      Array.from({ length: 1000 }, (_, n) => from + n)
    );
    expect(lists.flat().sort((a, b) => a - b)).toEqual(expected);
    for (const list of lists) {
      for (const isSecond of [false, true]) {
        const own = list.filter((value) => value >= 10_000 === isSecond);
        expect(own).toEqual([...own].sort((a, b) => a - b));
      }
    }
  });

  test("of every kind and size, around the end of the ring, blocking on both sides", async () => {
    const { call } = pool();
    const [sender, receiver] = channel<unknown>({ capacity: 1000, maxBytes: 4096 });
    const values = Array.from({ length: 300 }, (_, n) =>
      [
        n,
        -0,
        n + 0.5,
        "x".repeat(n),
        { n, map: new Map([[n, { deep: 2n ** 70n }]]) },
        new Uint8Array(n).fill(n),
        undefined,
        null,
      ][n % 8]);
    const sent = call.produceSync([sender, values]);
    const received = call.consumeSync([receiver, values.length]);
    sender.close();
    receiver.close();
    expect(await received).toEqual(values);
    await sent;
  });

  test("are what they were when they were sent", async () => {
    const [sender, receiver] = channel<{ n: number }>({ capacity: 1 });
    const value = { n: 1 };
    await sender.send(value);
    value.n = 2;
    const waiting = sender.send(value);
    value.n = 3;
    expect([await receiver.receive(), await receiver.receive()]).toEqual([{ n: 1 }, { n: 2 }]);
    await waiting;
  });

  test("wait for room and for values, or not", async () => {
    const [sender, receiver] = channel<number>({ capacity: 2 });
    expect(receiver.tryReceive()).toBeUndefined();
    expect([sender.trySend(1), sender.trySend(2), sender.trySend(3)]).toEqual([true, true, false]);
    expect([sender.size, receiver.size, sender.capacity]).toEqual([2, 2, 2]);
    expect(await rejection(sender.send(3, { timeoutMs: 1 }))).toMatchObject({
      code: "HEDDLE_WAIT_TIMEOUT",
    });
    expect(receiver.tryReceive()).toEqual({ value: 1 });
    sender.send(4); // without await
    await pause(1);
    expect([await receiver.receive(), await receiver.receive()]).toEqual([2, 4]);
    const stop = new AbortController();
    const aborted = rejection(receiver.receive({ signal: stop.signal }));
    stop.abort(new Error("stop"));
    expect(await aborted).toEqual(new Error("stop"));
    await sender.send(5);
    expect(await receiver.receive()).toBe(5);
    expect(() => sender.send("x".repeat(2 ** 20) as never)).toThrow(
      /half of the channel's maxBytes/,
    );
  });
});

describe("ends", () => {
  test("the last sender ends the loops of receivers, after what was sent", async () => {
    const [sender, receiver] = channel<number>();
    sender.trySend(1);
    sender.close();
    expect(receiver.isEnded).toBe(false);
    expect(await all(receiver)).toEqual([1]);
    expect(receiver.isEnded).toBe(true);
    expect(await rejection(receiver.receive())).toMatchObject({ code: "HEDDLE_CHANNEL_CLOSED" });
    expect(() => sender.trySend(2)).toThrow(/This sender was closed/);
  });

  test("a reason reaches receivers as the cause", async () => {
    const [sender, receiver] = channel<number>();
    sender.trySend(1);
    const values: number[] = [];
    sender.close(new RangeError("broken input"));
    const error = await rejection((async () => {
      for await (const value of receiver) values.push(value);
    })());
    expect(values).toEqual([1]);
    const [other, last] = channel<number>();
    other.close(new Error("x".repeat(20_000)));
    const { cause } = await rejection(last.receive()) as { cause: Error };
    expect(cause.message).toBe("x".repeat(100));
    expect(error).toMatchObject({
      code: "HEDDLE_CHANNEL_CLOSED",
      cause: new RangeError("broken input"),
    });
  });

  test("the last receiver ends the senders", async () => {
    const [sender, receiver] = channel<number>({ capacity: 1 });
    sender.trySend(1);
    const waiting = rejection(sender.send(2));
    receiver.close();
    expect(await waiting).toMatchObject({ code: "HEDDLE_CHANNEL_CLOSED" });
    expect(() => sender.trySend(1)).toThrow(/no receivers/);
    expect(sender.isReceived).toBe(false);
  });

  test("closing an end fails its receives that wait, and waits for its sends", async () => {
    const [sender, receiver] = channel<number>({ capacity: 1 });
    const pending = rejection(receiver.receive());
    const loop = rejection(all(receiver));
    await pause(1);
    const other = pool({ threads: 1 }).call.consume(receiver);
    receiver.close();
    for (const error of [await pending, await loop]) {
      expect(error).toMatchObject({ code: "HEDDLE_CHANNEL_CLOSED" });
    }
    const sends = [1, 2, 3].map((value) => sender.send(value));
    sender.close();
    expect(await other).toEqual([1, 2, 3]);
    await Promise.all(sends);
  });

  test("a sender on its way keeps the channel open", async () => {
    const { call } = pool({ threads: 1 });
    const [sender, receiver] = channel<number>();
    const busy = new Event();
    const first = call.invoke([busy, "waitSync"]);
    const produced = call.produce([sender, 0, 3]); // waits behind it
    sender.close();
    const values = all(receiver);
    await pause(10);
    busy.set();
    expect(await values).toEqual([0, 1, 2]);
    await Promise.all([first, produced]);
  });

  test("the death of a thread closes its end, with a reason if it was the last sender", async () => {
    const made = createSharedPool({ threads: 1 });
    const [sender, receiver] = channel<number>();
    const event = new Event();
    const call = rejection(made.call.sendAndStay([sender, event]));
    await event.wait();
    sender.close();
    expect(await receiver.receive()).toBe(1);
    const next = rejection(receiver.receive());
    await made.shutdown(0);
    expect(await next).toMatchObject({
      code: "HEDDLE_CHANNEL_CLOSED",
      message: expect.stringMatching(/died/),
    });
    await call;
  });
});

describe("an end that a call carries", () => {
  test("is gone with a call that is refused, fails before it is sent, or ends in the queue", async () => {
    const { call } = pool({ threads: 1 });
    const event = new Event();
    const busy = call.invoke([event, "waitSync"]);
    const invoke = call.invoke as (...args: unknown[]) => Promise<unknown>;
    const calls: ((end: unknown) => Promise<unknown>)[] = [
      async (end) => await invoke([end, () => {}]),
      async (end) => await invoke([() => {}, end]),
      async (end) => await invoke([end], Promise.reject(new Error("no"))),
      async (end) => await call.produce.with({ timeoutMs: 5 })([end as Sender<number>, 0, 1]),
      async (end) =>
        await call.produce.with({ signal: AbortSignal.abort() })([end as Sender<number>, 0, 1]),
    ];
    for (const make of calls) {
      const [sender, receiver] = channel<number>();
      await rejection(make(sender));
      sender.close();
      expect(await rejection(receiver.receive())).toMatchObject({ code: "HEDDLE_CHANNEL_CLOSED" });
    }
    event.set();
    await busy;
  });

  test("is one for each worker of a broadcast, whenever it comes to the call", async () => {
    const { call, broadcast } = pool();
    const [sender, receiver] = channel<number>();
    const event = new Event();
    const busy = call.invoke([event, "waitSync"]); // its worker comes to the broadcast later
    const produced = broadcast.produce([sender, 1, 1]);
    sender.close();
    const received = all(receiver);
    await pause(10);
    event.set();
    await Promise.all([produced, busy]);
    expect(await received).toEqual([1, 1]);
  });

  test("is gone with an early call that ends before its task is known, or before it is begun", async () => {
    const url = new URL("../fixtures/shared-tasks.ts", import.meta.url);
    const made = closedAfterTest(
      createPool({ threads: 1 })<typeof import("../fixtures/shared-tasks.ts")>(url),
    );
    const event = new Event();
    const busy = made.call.invoke([event, "waitSync"]);
    const produce = (stop: AbortController) => {
      const [sender, receiver] = channel<number>();
      const produced = made.call.produce.with({ signal: stop.signal })([sender, 0, 3]);
      sender.close();
      return { produced: produced.catch((reason: unknown) => reason), receiver };
    };
    const [early, late] = [new AbortController(), new AbortController()];
    const first = produce(early);
    const second = produce(late);
    const third = produce(new AbortController());
    const closed = { code: "HEDDLE_CHANNEL_CLOSED" };
    early.abort("early");
    expect(await rejection(first.receiver.receive())).toMatchObject(closed);
    await made.ready;
    late.abort("late");
    expect(await rejection(second.receiver.receive())).toMatchObject(closed);
    expect([await first.produced, await second.produced]).toEqual(["early", "late"]);
    event.set();
    expect(await all(third.receiver)).toEqual([0, 1, 2]);
    await Promise.all([busy, third.produced]);
  });

  test("is there again when the call is made again", async () => {
    const { call } = pool({ threads: 1 });
    const [sender, receiver] = channel<number>();
    const runs = new AtomicCounter();
    const produced = call.dieThenProduce.with({ retries: 1 })([sender, runs]);
    sender.close();
    expect(await all(receiver)).toEqual([2]);
    await produced;
  });

  test("keeps the channel open, however many calls are on their way", async () => {
    const { call } = pool({ threads: 1 });
    const [sender, receiver] = channel<number>({ capacity: 100 });
    const event = new Event();
    const busy = call.invoke([event, "waitSync"]);
    const produced = Array.from({ length: 70 }, (_, n) => call.produce([sender, n, 1]));
    sender.close();
    const received = all(receiver);
    event.set();
    expect((await received).sort((a, b) => a - b)).toEqual(Array.from({ length: 70 }, (_, n) => n));
    await Promise.all([busy, ...produced]);
  });

  test("is refused where it would arrive at any time: worker.data and sticky broadcasts", async () => {
    const [sender, receiver] = channel<number>();
    expect(() => pool({ worker: { data: { list: [sender] } } })).toThrow(/end of a channel/);
    const made = pool();
    const produced = made.ready.then(() =>
      made.broadcast.produce.with({ sticky: true })([sender, 0, 1])
    );
    expect(await rejection(produced)).toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
    sender.close();
    expect(await rejection(receiver.receive())).toMatchObject({ code: "HEDDLE_CHANNEL_CLOSED" });
  });
});

test("an end in a nested call and in its result is closed where it only passes", async () => {
  const { call } = pool();
  const [sender, receiver] = channel<number>();
  const produced = call.produceElsewhere([sender, 3]);
  sender.close();
  expect(await all(receiver)).toEqual([1, 1, 1]);
  await produced;
});

describe("an end that the host sends later is gone with the worker that has not taken it", () => {
  const ended = { code: "HEDDLE_CHANNEL_CLOSED" };

  test("in an item of a stream", async () => {
    const { call } = pool({ threads: 1 });
    const [sender, receiver] = channel<number>();
    const event = new Event();
    const stop = new AbortController();
    const items = async function* (): AsyncGenerator<[Sender<number>, Event]> {
      yield [sender, event];
      await event.wait();
      for (let item = 0; item < 40; item++) yield [sender, event];
    };
    const sent = rejection(
      call.sendByFirst.with({ signal: stop.signal, killAfterMs: 0 })(items()),
    );
    await event.wait();
    await pause(20); // items are on their way
    stop.abort(new Error("stop"));
    await sent;
    sender.close();
    expect(await receiver.receive()).toBe(1);
    expect(await rejection(receiver.receive())).toMatchObject(ended);
  });

  test.each(["before it dies", "after its death"])("in an answer %s", async (when) => {
    const [sender, receiver] = channel<number>();
    const event = new Event();
    const stop = new AbortController();
    const death = Promise.withResolvers<Sender<number>>();
    const lend = () => when === "before it dies" ? sender : death.promise;
    const made = closedAfterTest(createSharedPool({ threads: 1, host: { functions: { lend } } }));
    const call = rejection(
      made.call.askAndStay.with({ signal: stop.signal, killAfterMs: 0 })([callback(lend), event]),
    );
    await event.wait();
    await pause(20); // the answers are on their way
    stop.abort(new Error("stop"));
    await call;
    await made.call.invoke([event, "set"]); // in the next worker
    death.resolve(sender);
    await pause(1);
    sender.close();
    expect(await rejection(receiver.receive())).toMatchObject(ended);
  });
});

test("values of megabytes hold up neither side, in any number of threads", async () => {
  const { call } = pool();
  const [sender, receiver] = channel<Uint8Array>({ maxBytes: 2 ** 24 });
  const values = Array.from({ length: 6 }, (_, n) => new Uint8Array(3e6).fill(n));
  const sent = [call.produceSync([sender, values]), call.produceSync([sender, values])];
  sender.close();
  const seen: number[] = [];
  for await (const value of receiver) {
    expect(value.every((byte) => byte === value[0])).toBe(true);
    seen.push(value[0]!);
  }
  expect(seen.sort()).toEqual([...values.keys(), ...values.keys()].sort());
  await Promise.all(sent);
});

describe("select", () => {
  test("that is refused lets nothing happen", async () => {
    const [sender, receiver] = channel<number>();
    const begun = receiver.receive({ timeoutMs: 1 });
    await rejection(begun);
    sender.trySend(1);
    const refused: (() => Promise<unknown>)[] = [
      () => select([receiver.receive(), begun]),
      () => select([receiver.receive()], { timeoutMs: -1 }),
      () => select([receiver.receive(), 5 as never]),
    ];
    for (const make of refused) {
      expect(await rejection(make())).toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
      await pause(1);
      expect(receiver.size).toBe(1);
    }
    expect(await receiver.receive()).toBe(1);
  });

  test("takes exactly one, and the others stay", async () => {
    const [a, b] = [channel<string>(), channel<number>()];
    a[0].trySend("a");
    b[0].trySend(1);
    const chosen = await select([a[1].receive(), b[1].receive()], { biased: true });
    expect(chosen).toEqual({ index: 0, value: "a" });
    expect([a[1].size, b[1].size]).toEqual([0, 1]);
    expect(await select([a[1].receive(), b[1].receive()])).toEqual({ index: 1, value: 1 });
    expect(await select([a[1].receive(), timer(5)])).toEqual({ index: 1, value: undefined });
    await pause(1);
    a[0].trySend("later");
    expect(await a[1].receive()).toBe("later");
  });

  test("is fair without a bias", async () => {
    const ends = [channel<number>({ capacity: 400 }), channel<number>({ capacity: 400 })] as const;
    for (let n = 0; n < 400; n++) for (const [sender] of ends) sender.trySend(n);
    const counts = [0, 0];
    for (let n = 0; n < 400; n++) {
      counts[(await select([ends[0][1].receive(), ends[1][1].receive()])).index]!++;
    }
    // Of 400 fair coins fewer than 100 heads come with a probability below 1e-24.
    expect(Math.min(...counts)).toBeGreaterThan(100);
  });

  test("sends as well, waits for another thread, and ends by a limit", async () => {
    const { call } = pool({ threads: 1 });
    const [sender, receiver] = channel<number>({ capacity: 1 });
    const [other, otherReceiver] = channel<number>({ capacity: 1 });
    other.trySend(0);
    const produced = call.produce([sender, 7, 1]);
    expect(await select([other.send(1), receiver.receive()])).toEqual({ index: 1, value: 7 });
    await produced;
    expect(await rejection(select([receiver.receive()], { timeoutMs: 1 }))).toMatchObject({
      code: "HEDDLE_WAIT_TIMEOUT",
    });
    otherReceiver.tryReceive();
    expect(await select([other.send(1), receiver.receive()])).toEqual({
      index: 0,
      value: undefined,
    });
    expect(otherReceiver.tryReceive()).toEqual({ value: 1 });
    // Used to the end: a sender that is collected closes its channel.
    sender.close();
  });
});
