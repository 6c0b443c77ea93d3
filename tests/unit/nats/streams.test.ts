/**
 * Both ends of a stream over a network that loses messages: every item once and in order, or an error; nothing waits for
 * ever.
 */
import { describe, expect, test } from "vitest";
import { ProtocolError, WorkerLostError } from "../../../src/errors.ts";
import { ArgumentReaders } from "../../../src/nats/machine/argument-readers.ts";
import {
  CREDIT,
  type Header,
  ITEMS,
  readHeader,
  SENT,
  STREAM_END,
  STREAM_FAILURE,
} from "../../../src/nats/wire/frames.ts";
import { MessageBatch } from "../../../src/nats/wire/message-batch.ts";
import { MessageCodec } from "../../../src/nats/wire/message-codec.ts";
import { StreamReceiver } from "../../../src/nats/wire/stream-receiver.ts";
import { createSenders, StreamSender } from "../../../src/nats/wire/stream-sender.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { openSource } from "../../../src/features/calls/streams/sources/open-source.ts";
import { StreamConsumer } from "../../../src/features/calls/streams/stream-consumer.ts";
import { createRandom, seedOfRun, upTo } from "../../support/random.ts";

const codec = new MessageCodec(currentRuntime, 2 ** 20);
const loss = { workerId: -1, exitCode: undefined, reason: "a batch was lost" };

interface Sent {
  readonly message: Uint8Array;
  readonly at: number;
}

interface Link {
  readonly consumer: StreamConsumer;
  readonly sender: StreamSender;
  /** Delivers what is on its way, and lets timers of both sides go off. */
  turn(): Promise<void>;
  hasEnded(): boolean;
}

/** A reader that has asked for the first items. */
function receiverOf(post: (message: Uint8Array) => void) {
  const receiver = new StreamReceiver({ stream: 1, sender: 0, post, loss: () => loss });
  const consumer = new StreamConsumer(receiver);
  receiver.attach(consumer);
  receiver.begin();
  return { consumer, receiver };
}

/** `isLost`: whether a message of this kind disappears. `turnsOnTheWay`: how long the others take. */
function connect(
  iterator: AsyncIterator<unknown>,
  isLost: (kind: number) => boolean,
  turnsOnTheWay = 0,
): Link {
  const toReader: Sent[] = [];
  const toSender: Sent[] = [];
  const macrotasks: (() => void)[] = [];
  let hasEnded = false;
  let turns = 0;
  const send = (queue: Sent[], message: Uint8Array): undefined => {
    if (!isLost(message[0]!)) queue.push({ message, at: turns + turnsOnTheWay });
  };
  const arrived = (queue: Sent[]): Sent[] =>
    queue.splice(0, queue.findLastIndex(({ at }) => at <= turns) + 1);
  const { consumer, receiver } = receiverOf((message) => send(toSender, message));
  const sender = new StreamSender(iterator, {
    codec,
    runtime: { now: () => turns, macrotask: (callback) => macrotasks.push(callback) },
    stream: 1,
    sender: 0,
    send: (message) => send(toReader, message),
    onEnd: () => hasEnded = true,
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
    else expect([ITEMS, SENT]).toContain(header.kind);
  };
  return {
    consumer,
    sender,
    hasEnded: () => hasEnded,
    async turn() {
      turns++;
      for (const run of macrotasks.splice(0)) run();
      for (const { message } of arrived(toReader)) deliver(message);
      for (const { message } of arrived(toSender)) {
        const header = readHeader(message)!;
        sender.onReader(header);
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

  test("a slow network is not taken for a loss", async () => {
    const link = connect(numbers(9000, () => {}), () => false, 100);
    link.sender.start();
    expect(await read(link)).toEqual([upToCount(9000), undefined]);
  });

  test("a batch that is lost concerns no reader that wants no more", async () => {
    let batches = 0;
    const link = connect(numbers(3000, () => {}), (kind) => kind === ITEMS && ++batches > 1);
    link.sender.start();
    expect(await read(link, 1)).toEqual([[0], undefined]);
    expect(batches).toBeGreaterThan(1);
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

  /** A call with one argument that is a stream. `isLost`: by kind and the number of messages of this kind before. */
  function call(source: object, isLost: (kind: number, before: number) => boolean) {
    const counts = new Map<number, number>();
    const isDropped = ({ kind }: Header): boolean => {
      const before = counts.get(kind) ?? 0;
      counts.set(kind, before + 1);
      return isLost(kind, before);
    };
    const readers = new ArgumentReaders({
      codec,
      sender: 1,
      loss: () => loss,
      post: (message) => {
        const header = readHeader(message)!;
        if (!isDropped(header)) {
          queueMicrotask(() => senders.senderOf(header.word - 1)?.onReader(header));
        }
      },
    });
    const senders = createSenders([openSource(source)], {
      codec,
      runtime: currentRuntime,
      send: (message) => {
        const header = readHeader(message)!;
        if (!isDropped(header)) queueMicrotask(() => readers.receive(header, message));
        return undefined;
      },
    });
    const reader = readers.open(0, false) as AsyncIterableIterator<unknown>;
    return { reader, readers, senders };
  }
  /** Reminds until it has settled. */
  async function settled<T>(promise: Promise<T>, readers: ArgumentReaders): Promise<T> {
    let isSettled = false;
    promise.then(() => isSettled = true, () => isSettled = true);
    for (let turns = 0; !isSettled; turns++) {
      if (turns > 1000) throw new Error("It waits for ever.");
      readers.remind();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    return await promise;
  }

  test("a reader that ends before its source was asked gets an end", async () => {
    let [asked, ended] = [0, 0];
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => ({ done: false, value: asked++ }),
        return: () => ({ done: true, value: ended++ }),
      }),
    };
    const { reader, readers } = call(source, (kind) => kind === CREDIT);
    const first = reader.next();
    await settled(reader.return!(), readers);
    expect(await first).toEqual({ done: true, value: undefined });
    expect([asked, ended]).toEqual([0, 1]);
  });

  test("the error of a source that cannot be opened is sent again", async () => {
    const source = {
      [Symbol.asyncIterator]: () => {
        throw new RangeError("closed");
      },
    };
    const lost = (kind: number, before: number): boolean => kind === STREAM_FAILURE && before < 3;
    const { reader, readers } = call(source, lost);
    const error = await settled(reader.next(), readers).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RangeError);
  });

  test("items that nobody asked for are refused, and so are placeholders out of order", () => {
    const { readers } = call({}, () => false);
    const batch = new MessageBatch(codec);
    batch.add(1);
    const message = batch.take(ITEMS, { word: 1 });
    expect(() => readers.receive(readHeader(message)!, message)).toThrow(ProtocolError);
    for (const index of [0, 2, -1, 2 ** 31 - 1]) {
      expect(() => readers.open(index, false)).toThrow(ProtocolError);
    }
  });

  test("a sender that takes no notice of credit is refused", () => {
    const { consumer, receiver } = receiverOf(() => {});
    const block = new Uint8Array(1_000_000);
    const sendAll = (): void => {
      for (let number = 0; number < 10; number++) {
        const batch = new MessageBatch(codec);
        batch.add(block);
        const message = batch.take(ITEMS, { word: 1, number });
        const header = readHeader(message)!;
        receiver.receive(header, codec.decode(message, header), message.length);
      }
    };
    expect(sendAll).toThrow(ProtocolError);
    expect(consumer.hasEnded).toBe(false);
  });
});
