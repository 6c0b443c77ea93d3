/** The ends of a channel: who has them, on which thread, and when a side is over. Deaths may come between any two stores. */
import { describe, expect, test } from "vitest";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { createChannel, Receiver, Sender } from "../../../src/shared/channel/channel.ts";
import type { Side } from "../../../src/shared/channel/ends.ts";
import { Queue } from "../../../src/shared/channel/queue.ts";
import { Values } from "../../../src/shared/values.ts";
import {
  forEachDeath,
  type SimulatedThread,
  SimulatedThreads,
  turn,
} from "../../support/shared-threads.ts";

/** Ends are closed when they are collected, which dead threads cannot. */
const kept: object[] = [];

function createBench(isNamed = false) {
  const threads = new SimulatedThreads();
  const { buffer } = threads.main.run(() => createChannel({}, isNamed));
  const queueOf = (thread: SimulatedThread) =>
    new Queue(thread.adopt("channel", buffer), new Values(currentRuntime));
  const endsOf = (thread: SimulatedThread) => queueOf(thread).ends;
  const [first, second] = threads.workers(2) as [SimulatedThread, SimulatedThread];
  return { threads, first, second, queueOf, endsOf, main: endsOf(threads.main) };
}

describe.each(["sender", "receiver"] as const)("the last %s", (side: Side) => {
  const other = side === "sender" ? "receiver" : "sender";

  test("that closes, or whose thread dies, ends its side", () => {
    forEachDeath((dies) => {
      const { first, endsOf, main } = createBench();
      const ends = endsOf(first);
      ends.open(side);
      main.open(other);
      const isDone = dies(first, () => ends.close(side));
      main.refresh();
      expect([main.isOver(side), main.isOver(other)]).toEqual([true, false]);
      if (isDone) expect(main.isFailed).toBe(false);
    });
  });

  test("is not over while another thread has one", () => {
    forEachDeath((dies) => {
      const { first, endsOf, main } = createBench();
      const ends = endsOf(first);
      main.open(side);
      main.open(other);
      dies(first, () => {
        ends.open(side);
        ends.open(side);
        ends.close(side);
      });
      main.refresh();
      expect(main.isOver(side)).toBe(false);
      main.close(side);
      expect([main.isOver(side), main.isFailed]).toEqual([true, false]);
    });
  });

  test("is not over on its way to another thread, and is when that one dies", () => {
    forEachDeath((dies) => {
      const { first, second, endsOf, main } = createBench();
      const [ends, third] = [endsOf(first), endsOf(second)];
      main.open(side);
      main.open(other);
      const { name } = main.depart(side);
      main.close(side);
      expect(main.isOver(side)).toBe(false);
      const isDone = dies(first, () => {
        ends.arrive(side, name);
        ends.close(side);
      });
      main.refresh();
      if (isDone) expect(main.isOver(side)).toBe(true);
      if (main.isOver(side)) return;
      third.arrive(side, name); // it had not arrived
      expect(main.isOver(side)).toBe(false);
      third.close(side);
      expect(main.isOver(side)).toBe(true);
    });
  });

  test("is over if the thread that sent it dies before it arrives", () => {
    forEachDeath((dies) => {
      const { first, endsOf, main } = createBench();
      const ends = endsOf(first);
      main.open(other);
      ends.open(side);
      dies(first, () => {
        ends.depart(side);
        ends.close(side);
      });
      main.refresh();
      expect(main.isOver(side)).toBe(true);
    });
  });

  test("of a channel with a name is never over", () => {
    const { first, endsOf, main } = createBench(true);
    endsOf(first).open(side);
    first.die();
    main.refresh();
    expect(main.isOver(side)).toBe(false);
  });

  test("is not over while one of many is on its way: those without a slot until their calls are over", () => {
    const { first, endsOf, main } = createBench();
    const ends = endsOf(first);
    main.open(side);
    main.open(other);
    const departures = Array.from({ length: 40 }, () => main.depart(side));
    main.close(side);
    for (const { name } of departures) {
      expect(main.isOver(side)).toBe(false);
      ends.arrive(side, name);
      ends.close(side);
    }
    for (const [index, { departure }] of departures.entries()) {
      expect([index, main.isOver(side)]).toEqual([index, false]);
      departure.end();
    }
    expect(main.isOver(side)).toBe(true);
  });

  test("is over when the call that carries it is over, whether it has arrived or not", () => {
    const { first, endsOf, main } = createBench();
    main.open(side);
    main.open(other);
    const departures = [main.depart(side), main.depart(side)];
    endsOf(first).arrive(side, departures[0]!.name);
    endsOf(first).close(side);
    main.close(side);
    for (const { departure } of departures) {
      expect(main.isOver(side)).toBe(false);
      departure.carry(false);
      departure.end();
    }
    expect(main.isOver(side)).toBe(true);
  });

  test("that may arrive several times is not over before all calls that carry it are", () => {
    forEachDeath((dies) => {
      const { first, threads, endsOf, main } = createBench();
      const ends = endsOf(first);
      main.open(other);
      ends.open(side);
      const third = endsOf(threads.start({ parent: threads.main.token }));
      const arrive = (name: string): void => {
        third.arrive(side, name);
        third.close(side);
        expect(third.isOver(side)).toBe(false);
      };
      dies(first, () => {
        const { name, departure } = ends.depart(side);
        departure.carry(true);
        departure.carry(false);
        ends.close(side);
        arrive(name);
        departure.end();
        arrive(name);
        departure.end();
      });
      main.refresh();
      expect(main.isOver(side)).toBe(true);
    });
  });
});

test("a thread that dies as it closes for a reason does not end the channel in the ordinary way", () => {
  forEachDeath((dies) => {
    const { first, endsOf, main } = createBench();
    const ends = endsOf(first);
    ends.open("sender");
    main.open("receiver");
    const isDone = dies(first, () => ends.close("sender", new Error("no more")));
    main.refresh();
    expect(main.isOver("sender")).toBe(true);
    expect(main.isFailed).toBe(true);
    if (isDone) expect(main.error().cause).toMatchObject({ message: "no more" });
  });
});

describe("ends in a thread", () => {
  const create = () => {
    const { threads, queueOf } = createBench();
    const queue = queueOf(threads.main);
    const { main } = threads;
    const sender = main.run(() => new Sender<number>("sender", queue, ""));
    const receiver = main.run(() => new Receiver<number>("receiver", queue, ""));
    kept.push(sender, receiver);
    return { main, sender, receiver };
  };
  const settled = (wait: PromiseLike<unknown>) =>
    Promise.race([
      wait.then((value) => value, (error) => error.code),
      turn().then(turn).then(() => "waits"),
    ]);

  test("operations with wrong options do not hold up the next", async () => {
    const { main, sender, receiver } = create();
    main.run(() => {
      expect(() => sender.send(1, { timeoutMs: -1 })).toThrow(/timeoutMs must be .*, got -1/);
      expect(() => receiver.receive({ timeoutMs: -1 })).toThrow(/timeoutMs must be .*, got -1/);
    });
    const [sent, received] = main.run(() => [sender.send(2), receiver.receive()]);
    expect(await Promise.all([settled(sent), settled(received)])).toEqual([undefined, 2]);
  });

  test("a receive that waits fails when its end is closed", async () => {
    const { main, receiver } = create();
    const wait = settled(main.run(() => receiver.receive()));
    await turn();
    receiver.close();
    expect(await wait).toBe("HEDDLE_CHANNEL_CLOSED");
  });

  test("sends that wait go out in order, also if some are given up", async () => {
    const { main, sender, receiver } = create();
    for (let value = 0; value < 64; value++) expect(sender.trySend(value)).toBe(true);
    const controller = new AbortController();
    const sends = main.run(() => [
      sender.send(64),
      sender.send(-1, { signal: controller.signal }),
      sender.send(65),
    ]);
    const outcomes = Promise.allSettled(sends);
    await turn();
    controller.abort(new Error("enough"));
    sender.close(); // it waits for its sends
    const received: number[] = [];
    for (let value = 0; value < 66; value++) {
      received.push(receiver.tryReceive()?.value ?? NaN);
      await turn();
    }
    expect(received).toEqual(Array.from({ length: 66 }, (_, index) => index));
    expect((await outcomes).map(({ status }) => status))
      .toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(receiver.isEnded).toBe(true);
  });
});
