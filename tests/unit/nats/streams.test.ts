/**
 * Both ends of a stream over a network that loses messages: every item once and in order, or an error; nothing waits for
 * ever.
 */
import { describe, expect, test } from "vitest";
import { WorkerLostError } from "../../../src/errors.ts";
import {
  CANCEL_STREAM,
  ITEMS,
  readHeader,
  STREAM_END,
  STREAM_FAILURE,
} from "../../../src/nats/wire/frames.ts";
import { MessageCodec } from "../../../src/nats/wire/message-codec.ts";
import { StreamReceiver } from "../../../src/nats/wire/stream-receiver.ts";
import { StreamSender } from "../../../src/nats/wire/stream-sender.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { StreamConsumer } from "../../../src/streams/stream-consumer.ts";
import { createRandom, seedOfRun, upTo } from "../../support/random.ts";

const codec = new MessageCodec(currentRuntime, 2 ** 20);
const loss = { workerId: -1, exitCode: undefined, reason: "a batch was lost" };

interface Link {
  readonly consumer: StreamConsumer;
  readonly sender: StreamSender;
  /** Delivers what is on its way, and lets timers of both sides go off. */
  turn(): Promise<void>;
  hasEnded(): boolean;
}

/** `isLost`: whether a message of this kind disappears. */
function connect(iterator: AsyncIterator<unknown>, isLost: (kind: number) => boolean): Link {
  const toReader: Uint8Array[] = [];
  const toSender: Uint8Array[] = [];
  const macrotasks: (() => void)[] = [];
  let hasEnded = false;
  let turns = 0;
  const send = (queue: Uint8Array[], message: Uint8Array): undefined => {
    if (!isLost(message[0]!)) queue.push(message);
  };
  const receiver = new StreamReceiver({
    stream: 1,
    sender: 0,
    post: (message) => send(toSender, message),
    loss: () => loss,
  });
  const consumer = new StreamConsumer(receiver);
  receiver.attach(consumer);
  const sender = new StreamSender(iterator, {
    codec,
    runtime: { now: () => turns, macrotask: (callback) => macrotasks.push(callback) },
    stream: 1,
    sender: 0,
    send: (message) => send(toReader, message),
    onEnd: () => hasEnded = true,
    onLost: () => consumer.fail(new WorkerLostError(loss)), // as the error of the call
  });
  const deliver = (message: Uint8Array): void => {
    const header = readHeader(message)!;
    const values = codec.decode(message, header);
    try {
      receiver.receive(header, values, message.length);
    } catch (error) {
      consumer.fail(error);
      return;
    }
    if (header.kind === STREAM_END) consumer.end(values[0]);
    else if (header.kind === STREAM_FAILURE) consumer.fail(values[0]);
    else expect(header.kind).toBe(ITEMS);
  };
  return {
    consumer,
    sender,
    hasEnded: () => hasEnded,
    async turn() {
      turns++;
      for (const run of macrotasks.splice(0)) run();
      for (const message of toReader.splice(0)) deliver(message);
      for (const message of toSender.splice(0)) {
        const header = readHeader(message)!;
        if (header.kind === CANCEL_STREAM) sender.cancel();
        else sender.onReader(header);
      }
      if (turns % 4 === 0) receiver.remind();
      for (let n = 0; n < 8; n++) await Promise.resolve();
    },
  };
}

async function* numbers(count: number, onClose: () => void): AsyncGenerator<number> {
  try {
    for (let n = 0; n < count; n++) yield n;
  } finally {
    onClose();
  }
}

/** Reads everything; the link turns meanwhile. */
async function read(link: Link, limit = Infinity): Promise<[items: unknown[], error: unknown]> {
  const items: unknown[] = [];
  let error: unknown;
  let isDone = false;
  const reading = (async () => {
    try {
      for (;;) {
        const { done, value } = await link.consumer.next();
        if (done === true) break;
        items.push(value);
        if (items.length === limit) {
          await link.consumer.return();
          break;
        }
      }
    } catch (reason) {
      error = reason;
    }
    isDone = true;
  })();
  for (let turns = 0; !isDone; turns++) {
    if (turns > 5000) throw new Error(`It waits for ever after ${items.length} items.`);
    await link.turn();
  }
  await reading;
  return [items, error];
}

const upToCount = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe("streams between machines", () => {
  test("all items arrive in order, further ones are asked for as they are read", async () => {
    let closed = 0;
    const link = connect(numbers(20_000, () => closed++), () => false);
    link.sender.start();
    expect(await read(link)).toEqual([upToCount(20_000), undefined]);
    expect(closed).toBe(1);
    expect(link.hasEnded()).toBe(true);
  });

  test("a reader that is slow is not taken for a loss", async () => {
    const link = connect(numbers(9000, () => {}), () => false);
    link.sender.start();
    for (let turns = 0; turns < 500; turns++) await link.turn();
    const waiting = link.consumer.next();
    for (let turns = 0; turns < 500; turns++) await link.turn();
    expect(await waiting).toEqual({ done: false, value: 0 });
    expect((await read(link))[0]).toHaveLength(8999);
  });

  test("a source that is slow is not taken for a loss", async () => {
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => go = resolve);
    const slow = async function* (): AsyncGenerator<number> {
      yield 0;
      await gate;
      yield 1;
    };
    const link = connect(slow(), () => false);
    link.sender.start();
    const reading = read(link);
    for (let turns = 0; turns < 200; turns++) await link.turn();
    go();
    expect(await reading).toEqual([[0, 1], undefined]);
  });

  const seed = seedOfRun();
  test(`lost messages are noticed (seed ${seed})`, async () => {
    const random = createRandom(seed);
    let broken = 0;
    for (let round = 0; round < 300; round++) {
      const count = upTo(random, 12_000);
      const limit = random() < 0.3 ? upTo(random, count) : Infinity;
      const rate = [0, 0.005, 0.05, 0.5][round % 4]!;
      let closed = 0;
      const link = connect(numbers(count, () => closed++), () => random() < rate);
      link.sender.start();
      const [items, error] = await read(link, limit);
      expect(items).toEqual(upToCount(items.length));
      if (error === undefined) {
        expect(items).toHaveLength(Math.min(count, limit === 0 ? count : limit));
      } else {
        broken++;
        expect(rate).toBeGreaterThan(0);
        expect(error).toBeInstanceOf(WorkerLostError);
        link.sender.cancel(); // as the end of the call does
        await link.turn();
      }
      expect(closed).toBeLessThanOrEqual(1);
      expect(link.hasEnded() || items.length === 0 || limit < count).toBe(true);
    }
    expect(broken).toBeGreaterThan(0);
  });

  test("lost messages without items are sent again", async () => {
    const random = createRandom(seed);
    for (let round = 0; round < 100; round++) {
      const count = upTo(random, 12_000);
      const limit = random() < 0.5 ? 1 + upTo(random, count) : Infinity;
      let closed = 0;
      const isLost = (kind: number): boolean => kind !== ITEMS && random() < 0.5;
      const link = connect(numbers(count, () => closed++), isLost);
      link.sender.start();
      expect(await read(link, limit)).toEqual([upToCount(Math.min(count, limit)), undefined]);
      expect(closed).toBe(1);
    }
  });

  test("what cannot be cloned ends the stream after the items before it", async () => {
    const mixed = async function* (): AsyncGenerator<unknown> {
      yield { a: [1] };
      yield new Uint8Array([1, 2]);
      yield () => {};
    };
    const link = connect(mixed(), () => false);
    link.sender.start();
    const [items, error] = await read(link);
    expect(items).toEqual([{ a: [1] }, new Uint8Array([1, 2])]);
    expect(error).toMatchObject({ code: "HEDDLE_DATA_CLONE" });
  });
});
