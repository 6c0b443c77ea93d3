/** The consumer of a stream, and both sides of one under many orders of what happens. */
import { describe, expect, test } from "vitest";
import { StreamConsumer } from "../../../../src/features/calls/streams/stream-consumer.ts";
import type { AnyIterator } from "../../../../src/features/calls/streams/stream-producer.ts";
import { createRandom } from "../../../support/random.ts";
import { settlePromises, TestProducer, TestWriter } from "../../../support/streams.ts";

function consumerOf(highWaterMark = 4) {
  const credits: number[] = [];
  const waits: boolean[] = [];
  let cancels = 0;
  const consumer = new StreamConsumer({
    acknowledge: (batches) => void credits.push(batches),
    cancel: () => void cancels++,
    onWaiting: (isWaiting) => void waits.push(isWaiting),
  });
  consumer.highWaterMark = highWaterMark;
  return { consumer, credits, waits, cancels: () => cancels };
}

const item = (value: unknown) => ({ done: false, value });
const DONE = { done: true, value: undefined };

test.each([true, false])("return() and an error of the iterator's next(): %s", async (isOfNext) => {
  for (const isBefore of [true, false]) {
    const { consumer } = consumerOf();
    if (isBefore) consumer.fail(new Error("behind"), isOfNext);
    const ended = consumer.return().then(() => "nothing", String);
    consumer.fail(new Error("behind"), isOfNext);
    expect(await ended).toBe(isBefore || isOfNext ? "nothing" : "Error: behind");
    await expect(consumer.returned).rejects.toThrow("behind");
  }
});

describe("reading", () => {
  test("items come in order, then the returned value, then nothing", async () => {
    const { consumer } = consumerOf();
    consumer.push([1, 2], 16);
    consumer.push([3], 8);
    consumer.end("last");
    consumer.push([4], 8); // from a producer that does not keep the protocol
    for (const value of [1, 2, 3]) expect(await consumer.next()).toEqual(item(value));
    expect(await consumer.next()).toEqual({ done: true, value: "last" });
    expect(await consumer.next()).toEqual(DONE);
    expect(await consumer.returned).toBe("last");
  });

  test("an error comes at its place, once", async () => {
    const { consumer } = consumerOf();
    consumer.push([1], 8);
    consumer.fail(new RangeError("no more"));
    expect(await consumer.next()).toEqual(item(1));
    await expect(consumer.next()).rejects.toThrow("no more");
    expect(await consumer.next()).toEqual(DONE);
    await expect(consumer.returned).rejects.toThrow("no more");
  });

  test("several early reads are served in order, and the first behind the end gets it", async () => {
    const { consumer, waits } = consumerOf();
    const reads = [consumer.next(), consumer.next(), consumer.next(), consumer.next()];
    expect(consumer.isWaiting).toBe(true);
    consumer.push([1, 2], 16);
    consumer.end("last");
    expect(await Promise.all(reads)).toEqual([
      item(1),
      item(2),
      { done: true, value: "last" },
      DONE,
    ]);
    expect(waits).toEqual([true, false]);
  });

  test("whole batches may be taken, also behind single items", async () => {
    const { consumer } = consumerOf();
    consumer.push([1, 2, 3], 24);
    consumer.push([4, 5], 16);
    consumer.end(undefined);
    await consumer.next();
    expect(consumer.taken).toBe(1);
    expect(await consumer.nextBatch()).toEqual([2, 3]);
    expect(consumer.taken).toBe(3);
    expect(await consumer.nextBatch()).toEqual([4, 5]);
    expect(await consumer.nextBatch()).toBeUndefined();
  });
});

describe("credit", () => {
  test("is given when half of the limit has been taken, for whole batches", async () => {
    const { consumer, credits } = consumerOf(4);
    consumer.push([1], 8);
    consumer.push([2, 3], 16);
    await consumer.next();
    expect(credits).toEqual([]);
    await consumer.next();
    expect(credits).toEqual([]);
    await consumer.next();
    expect(credits).toEqual([2]);
  });

  test("is not given to a producer that has ended", async () => {
    const { consumer, credits } = consumerOf(1);
    consumer.push([1, 2], 16);
    consumer.end(undefined);
    await consumer.next();
    await consumer.next();
    expect(credits).toEqual([]);
  });
});

describe("cancelling", () => {
  test("forgets what has arrived and what still arrives, and asks once", async () => {
    const { consumer, cancels } = consumerOf();
    consumer.push([1], 8);
    const returned = consumer.return("mine");
    consumer.push([2], 8);
    consumer.cancel();
    expect(await consumer.next()).toEqual(DONE);
    consumer.end("theirs");
    expect(await returned).toEqual({ done: true, value: "mine" });
    expect(cancels()).toBe(1);
  });

  test("ends reads that wait", async () => {
    const { consumer } = consumerOf();
    const read = consumer.next();
    consumer.cancel();
    expect(await read).toEqual(DONE);
  });

  test("return() rejects if ending the iterator fails", async () => {
    const { consumer } = consumerOf();
    const returned = consumer.return();
    consumer.fail(new TypeError("finally failed"));
    await expect(returned).rejects.toThrow("finally failed");
    expect(await consumer.next()).toEqual(DONE);
  });

  test("asks nothing of a producer that has ended", async () => {
    const { consumer, cancels } = consumerOf();
    consumer.push([1], 8);
    consumer.fail(new Error("unread"));
    expect(await consumer.return()).toEqual(DONE);
    expect(cancels()).toBe(0);
  });
});

/** One stream whose messages, credit, reads and losses happen in the order that the seed gives. */
async function explore(seed: number): Promise<string[]> {
  const random = createRandom(seed);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const size = upTo(14);
  const highWaterMark = 1 + upTo(5);
  const failsAt = random() < 0.25 ? upTo(size) : -1;
  const stopsAt = random() < 0.4 ? upTo(size) : Infinity;
  const losesAt = random() < 0.2 ? upTo(60) : Infinity;
  const gates: (() => void)[] = [];
  let [begun, ended] = [0, 0];
  function* sync(): Generator<number, string> {
    begun++;
    try {
      for (let n = 0; n < size; n++) {
        if (n === failsAt) throw new RangeError("at its place");
        yield n;
      }
      return "done";
    } finally {
      ended++;
    }
  }
  async function* pausing(): AsyncGenerator<number, string> {
    for (const iterator = sync();;) {
      try {
        const { done, value } = iterator.next();
        if (done === true) return value;
        await new Promise<void>((resolve) => void gates.push(resolve));
        yield value as number;
      } finally {
        if (stopped) iterator.return("stopped");
      }
    }
  }
  let stopped = false;

  const toHost: (() => void)[] = [];
  const toWorker: (() => void)[] = [];
  const writer = new TestWriter();
  const consumer: StreamConsumer = new StreamConsumer({
    acknowledge: (batches) => void toWorker.push(() => run.producer.acknowledge(batches)),
    cancel: () =>
      void toWorker.push(() => {
        stopped = true;
        run.producer.cancel();
      }),
  });
  consumer.highWaterMark = highWaterMark;
  writer.onSend = ({ items, bytes }) => void toHost.push(() => consumer.push(items, bytes));
  let ends = 0;
  const iterator: AnyIterator = random() < 0.4 ? pausing() : sync();
  const run = new TestProducer(iterator, highWaterMark, {
    writer,
    onEnd: (isThrown, value) => {
      ends++;
      toHost.push(() => isThrown ? consumer.fail(value) : consumer.end(value));
    },
  });

  const faults: string[] = [];
  let [read, isReading, outcome, isLost] = [0, false, "", false];
  const readNext = (): void => {
    if (isReading || outcome !== "") return;
    isReading = true;
    const step = read >= stopsAt ? consumer.return() : consumer.next();
    const isStop = read >= stopsAt;
    step.then(({ done, value }) => {
      isReading = false;
      if (isStop) outcome = "stopped";
      else if (done === true) outcome = `done ${String(value)}`;
      else if (value !== read++) faults.push(`item ${String(value)} in place of ${read - 1}`);
    }, (error: unknown) => {
      isReading = false;
      outcome = `failed ${String(error)}`;
    });
  };
  const lose = (): void => {
    isLost = true;
    toHost.length =
      toWorker.length =
      run.macrotasks.length =
      gates.length =
        0;
    consumer.fail("lost");
  };
  const resume = (): void => {
    if (isLost || !writer.isFull) return;
    writer.isFull = false;
    run.producer.resume();
  };
  const steps: readonly (() => void)[] = [
    () => run.macrotasks.shift()?.(),
    () => gates.shift()?.(),
    () => toHost.shift()?.(),
    () => toWorker.shift()?.(),
    readNext,
    readNext,
    resume,
    () => void (writer.isFull = !isLost && random() < 0.2 || writer.isFull),
  ];
  run.producer.start();
  for (let step = 0; step < 400 && outcome === ""; step++) {
    if (step === losesAt) lose();
    // At first in any order; then everything gets its turn, so nothing may be left waiting.
    if (step < 80) steps[upTo(steps.length - 1)]!();
    else for (const each of steps.slice(0, -1)) each();
    await settlePromises();
  }
  if (outcome === "") faults.push(`stuck after ${read} of ${size}`);
  if (isLost) return faults;
  for (let turn = 0; turn < 30; turn++) {
    for (const each of steps.slice(0, -1)) each();
    await settlePromises();
  }
  if (ends !== 1) faults.push(`${ends} ends`);
  if (begun !== ended) faults.push(`${begun} begun, ${ended} ended`);
  if (stopsAt === Infinity) {
    const expected = failsAt >= 0 && failsAt < size
      ? [failsAt, "failed RangeError: at its place"]
      : [size, "done done"];
    if (read !== expected[0] || outcome !== expected[1]) faults.push(`${read} read, ${outcome}`);
  }
  return faults;
}

test("in 3,000 schedules nothing is lost, doubled or left waiting", async () => {
  for (let seed = 0; seed < 3000; seed++) {
    expect(await explore(seed), `seed ${seed}`).toEqual([]);
  }
}, 60_000);
