/** The ring of a channel with deaths between any two stores: values are neither lost, doubled nor torn, and stay in order. */
import { RING } from "../../../src/shared/channel/layout.ts";
import { describe, expect, test } from "vitest";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { type ChannelOptions, createChannel } from "../../../src/shared/channel/channel.ts";
import { NOTHING, Queue } from "../../../src/shared/channel/queue.ts";
import { Values } from "../../../src/shared/values.ts";
import { createRandom, upTo } from "../../support/random.ts";
import {
  forEachDeath,
  type SimulatedThread,
  SimulatedThreads,
} from "../../support/shared-threads.ts";

/** A channel, and queues of any threads over it. */
function createBench(options: ChannelOptions = {}, position = 0) {
  const threads = new SimulatedThreads();
  const { buffer, view } = threads.main.run(() => createChannel(options, false));
  view.i32[33] = view.i32[65] = position;
  const queueOf = (thread: SimulatedThread) => {
    const queue = new Queue(thread.adopt("channel", buffer), new Values(currentRuntime));
    queue.ends.open("sender");
    queue.ends.open("receiver");
    return queue;
  };
  const main = queueOf(threads.main);
  return { threads, main, queueOf, i32: view.i32 };
}

const send = (queue: Queue, value: unknown): boolean =>
  queue.values.encode(value, () => "It", (encoded) => queue.send(encoded, false));

function drain(queue: Queue): unknown[] {
  const values: unknown[] = [];
  for (let value = queue.receive(false); value !== NOTHING; value = queue.receive(false)) {
    values.push(value);
  }
  return values;
}

/** Values of many sizes, which say what they are. */
const valueOf = (number: number): unknown =>
  number % 3 === 0 ? number : { number, text: `${number}`.repeat(1 + (number * 7) % 40) };

const POSITIONS = [0, 2 ** 31 - 256, -64, 2 ** 31 - 8 - 512 + 200];

describe.each(POSITIONS.map((position) => position & ~7))("at position %d", (position) => {
  const options = { maxBytes: 512, capacity: 6 };

  test("a sender that dies has sent its value or not", () => {
    for (const before of [0, 1, 3]) {
      forEachDeath((dies) => {
        const { threads, main, queueOf } = createBench(options, position);
        const worker = threads.start();
        const queue = queueOf(worker);
        const values = Array.from({ length: before }, (_, index) => valueOf(index));
        for (const value of values) send(main, value);
        if (before === 3) main.receive(false);
        const isDone = dies(worker, () => send(queue, "new"));
        send(main, "last");
        const received = drain(main);
        const left = before === 3 ? values.slice(1) : values;
        expect([[...left, "last"], [...left, "new", "last"]]).toContainEqual(received);
        if (isDone) expect(received).toContain("new");
        expect(main.size).toBe(0);
      });
    }
  });

  test("a receiver that dies has taken one value or none", () => {
    forEachDeath((dies) => {
      const { threads, main, queueOf } = createBench(options, position);
      const worker = threads.start();
      const queue = queueOf(worker);
      const values = [1, 2, 3, 4].map(valueOf);
      for (const value of values) send(main, value);
      const isDone = dies(worker, () => void queue.receive(false));
      const received = drain(main);
      expect([values, values.slice(1)]).toContainEqual(received);
      if (isDone) expect(received).toHaveLength(3);
      expect(main.size).toBe(0);
      for (let count = 0; count < options.capacity; count++) expect(send(main, count)).toBe(true);
      expect([send(main, 9), main.size]).toEqual([false, options.capacity]);
    });
  });

  test("is empty, and takes as many values as before, after deaths in turn", () => {
    const random = createRandom(position);
    for (let round = 0; round < 30; round++) {
      const { threads, main, queueOf } = createBench(options, position);
      for (let death = 0; death < 5; death++) {
        const worker = threads.start();
        const queue = queueOf(worker);
        worker.diesAt(1 + upTo(random, 20), () => {
          for (let count = 0; count < 4; count++) send(queue, valueOf(count));
          for (let count = 0; count < 3; count++) queue.receive(false);
        });
        worker.die();
      }
      drain(main);
      expect(main.size).toBe(0);
      let count = 0;
      while (send(main, count)) expect(main.size).toBe(++count);
      expect(count).toBe(options.capacity);
    }
  });
});

describe("a value that is written outside the latch", () => {
  const options = { maxBytes: 2 ** 17, capacity: 6 };
  /** Writes before: the latch, four words of the record with its position, `sent`, the latch, and half of the value. */
  const VALUE_STEP = 9;
  const large = (value: number): Uint8Array => new Uint8Array(20_000).fill(value);

  test("of a sender that dies is there or not, and what comes after it is", () => {
    forEachDeath((dies) => {
      const { threads, main, queueOf } = createBench(options);
      const worker = threads.start();
      const queue = queueOf(worker);
      send(main, 1);
      const isDone = dies(worker, () => send(queue, large(2)));
      send(main, large(3));
      const received = drain(main);
      const [first, ...others] = received as (number | Uint8Array)[];
      expect(first).toBe(1);
      expect(others.map((bytes) => (bytes as Uint8Array)[0])).toEqual(isDone ? [2, 3] : [3]);
      for (const bytes of others) expect(bytes).toEqual(large((bytes as Uint8Array)[0]!));
      expect(main.size).toBe(0);
    });
  });

  test("is waited for by receivers, and holds up no sender", () => {
    const { threads, main, queueOf } = createBench(options);
    const worker = threads.start();
    const queue = queueOf(worker);
    // Between the two halves of the value.
    worker.atStep(VALUE_STEP, () => {
      expect([send(main, 5), main.receive(false), main.size]).toEqual([true, NOTHING, 2]);
    });
    expect(send(queue, large(4))).toBe(true);
    expect(drain(main)).toEqual([large(4), 5]);
  });

  test("that is not written, since a stack ended or its thread was stopped, is skipped", () => {
    const { threads, main, queueOf } = createBench(options);
    const worker = threads.start();
    const queue = queueOf(worker);
    const fail = (): never => {
      throw new RangeError("Maximum call stack size exceeded");
    };
    worker.atStep(VALUE_STEP, fail);
    expect(() => send(queue, large(4))).toThrow("Maximum call stack");
    expect([send(main, 5), drain(main)]).toEqual([true, [5]]);
  });

  test("is taken by one of two receivers", () => {
    const { threads, main, queueOf } = createBench(options);
    const worker = threads.start();
    const queue = queueOf(worker);
    send(main, large(1));
    send(main, large(2));
    // Before the position is moved, after the copy.
    let other: unknown;
    worker.atStep(3, () => other = main.receive(false));
    const values = [queue.receive(false), other, main.receive(false)].filter((value) =>
      value !== NOTHING
    );
    expect(values.map((value) => (value as Uint8Array)[0]).sort()).toEqual([1, 2]);
    expect(main.size).toBe(0);
  });
});

test("the next send puts the size right after a sender has died", () => {
  forEachDeath((dies) => {
    const { threads, main, queueOf } = createBench({ capacity: 4 });
    const worker = threads.start();
    const queue = queueOf(worker);
    send(main, "first");
    dies(worker, () => send(queue, "second"));
    let sent = 0;
    while (send(main, sent)) sent++;
    const { size } = main;
    expect([size, drain(main).length]).toEqual([4, 4]);
  });
});

test("an exception under a latch does not keep it", () => {
  const { threads, main, queueOf, i32 } = createBench();
  const other = queueOf(threads.start());
  send(main, { text: "x".repeat(100) });
  const ring = RING >> 2; // word
  const length = i32[ring]!;
  i32[ring] = 12; // as good as any exception: an exhausted stack, no memory for the copy
  expect(() => main.receive(false)).toThrow("impossible");
  i32[ring] = length;
  expect(other.receive(false)).toEqual({ text: "x".repeat(100) });
});

test("a model with random sends, receives and deaths", () => {
  const random = createRandom(7);
  for (let round = 0; round < 20; round++) {
    const { threads, main, queueOf } = createBench({ maxBytes: 1024, capacity: 8 });
    let [next, last] = [0, -1];
    let losses = 0;
    const uncertain = new Set<number>();
    const isSent: number[] = [];
    const seen: number[] = [];
    const take = (queue: Queue) => {
      const value = queue.receive(false);
      if (value === NOTHING) return;
      const number = typeof value === "number" ? value : (value as { number: number }).number;
      expect(value).toEqual(valueOf(number));
      expect(number).toBeGreaterThan(last);
      seen.push(last = number);
    };
    for (let step = 0; step < 60; step++) {
      const worker = threads.start();
      const queue = queueOf(worker);
      const number = next++;
      const count = seen.length;
      const isSending = random() < 0.55;
      let hasSent = false;
      const isAlive = worker.diesAt(1 + upTo(random, 40), () => {
        if (isSending) hasSent = send(queue, valueOf(number));
        else take(queue);
      });
      worker.die();
      if (isSending && hasSent) isSent.push(number);
      if (isSending && !isAlive) uncertain.add(number);
      // What a dying receiver took counts as delivered.
      if (!isSending && !isAlive && seen.length === count) losses++;
      if (random() < 0.3) take(main);
    }
    while (main.size > 0) take(main);
    expect(new Set(seen).size).toBe(seen.length);
    expect(isSent.filter((each) => !seen.includes(each)).length).toBeLessThanOrEqual(losses);
    expect(seen.filter((each) => !isSent.includes(each) && !uncertain.has(each))).toEqual([]);
  }
});
