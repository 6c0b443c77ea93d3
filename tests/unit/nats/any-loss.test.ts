/**
 * Each message of a call in turn is lost, or a row of them: the call ends soon, with the right result or as lost. Or all
 * processes are suspended there: nothing is lost.
 */
import { describe, expect, test } from "vitest";
import { WorkerLostError } from "../../../src/errors.ts";
import { createSettings, PLAIN } from "../../../src/host/calls/call-settings.ts";
import type { ResultStream } from "../../../src/features/calls/streams/host/result-stream.ts";
import { createResultStream } from "../../../src/features/calls/streams/host/stream-ends.ts";
import { Caller } from "../../../src/nats/caller/caller.ts";
import type { LocalCalls } from "../../../src/nats/machine/local-calls.ts";
import { Machine } from "../../../src/nats/machine/machine.ts";
import {
  allSubject,
  callSubject,
  resolveConnect,
  resolveServe,
} from "../../../src/nats/options.ts";
import { VirtualClock, VirtualServer } from "../../support/virtual-nats.ts";

const subject = "virtual.tests";
const LOST_MS = 3000;
/** A loss is noticed within this time. */
const LIMIT_MS = 20_000;
/** Two windows of chunks, of a small server. */
const LARGE = 100_000;
const MAX_PAYLOAD = 8 * 1024;
/** Messages that are lost in turn. */
const MAX_FIRST = 16;

async function* source(count: number, bytes = 0): AsyncGenerator<unknown> {
  for (let n = 0; n < count; n++) {
    yield await Promise.resolve(bytes > 0 ? new Uint8Array(bytes) : n);
  }
}

async function countItems(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _item of items) count++;
  return count;
}

/** What a local call of a generator returns. */
function streamOf(items: AsyncGenerator<unknown>): ResultStream<unknown, unknown> {
  const { consumer, handle } = createResultStream({
    acknowledge: () => {},
    cancel: () => consumer.end(undefined),
    onWaiting: () => {},
  });
  void (async () => {
    for await (const item of items) consumer.push([item], 8);
    consumer.end(undefined);
  })();
  return handle;
}

function network() {
  const clock = new VirtualClock();
  const server = new VirtualServer(clock);
  server.maxPayload = MAX_PAYLOAD;
  const pause = (): Promise<void> =>
    new Promise((resolve) => clock.runtime.setTimeout(resolve, 1500));
  const tasks = {
    pause: () => pause().then(() => "paused"),
    large: () => pause().then(() => new Uint8Array(LARGE)),
    length: (bytes: Uint8Array) => pause().then(() => bytes.length),
    stream: (count: number, bytes: number) => Promise.resolve(streamOf(source(count, bytes))),
    generate: (count: number, bytes: number) => streamOf(source(count, bytes)),
    count: countItems,
  };
  for (const task of Object.values(tasks)) Object.assign(task, { with: () => task });
  const { connection } = server.connect();
  const machine = new Machine(
    clock.runtime,
    resolveServe({ subject, name: "one", terminates: false, discovery: false }, () => "one"),
    connection,
    tasks as unknown as LocalCalls,
  );
  connection.subscribe(machine.subject, { callback: machine.onMessage });
  connection.subscribe(allSubject(subject), { callback: machine.onMessage });
  connection.subscribe(callSubject(subject), { queue: "machines", callback: machine.onCall });
  const caller = new Caller(clock.runtime, resolveConnect({ subject, lostAfterMs: LOST_MS }));
  caller.open(server.connect().connection);
  return { clock, server, machine, caller };
}

type Make = (caller: Caller) => PromiseLike<unknown>;
const again = createSettings({ retries: 1 });
const KINDS: Readonly<Record<string, readonly [Make, unknown]>> = {
  "a plain call": [(caller) => caller.call("pause", PLAIN, []), "paused"],
  "a call that may be repeated": [(caller) => caller.call("pause", again, []), "paused"],
  "a large result": [
    async (caller) => (await caller.call("large", PLAIN, []) as Uint8Array).length,
    LARGE,
  ],
  "large arguments": [(caller) => caller.call("length", PLAIN, [new Uint8Array(LARGE)]), LARGE],
  "a short stream": [(caller) => countItems(caller.call("generate", PLAIN, [10, 0])), 10],
  "a long stream": [(caller) => countItems(caller.call("generate", PLAIN, [5000, 0])), 5000],
  "a stream of large items": [
    (caller) => countItems(caller.call("generate", PLAIN, [3, LARGE])),
    3,
  ],
  "a stream that is awaited": [
    async (caller) =>
      countItems(await caller.call("stream", PLAIN, [5000, 0]) as AsyncIterable<unknown>),
    5000,
  ],
  "a short stream among the arguments": [
    (caller) => caller.call("count", PLAIN, [source(10)]),
    10,
  ],
  "a long stream among the arguments": [
    (caller) => caller.call("count", PLAIN, [source(5000)]),
    5000,
  ],
  "large items among the arguments": [
    (caller) => caller.call("count", PLAIN, [source(3, LARGE)]),
    3,
  ],
};

describe.each(Object.entries(KINDS))("%s", (_name, [make, expected]) => {
  /** Loses the messages from the `first`th on, so many. Returns how many there were. */
  const lose = async (first: number, count: number): Promise<number> => {
    const { clock, server, machine, caller } = network();
    let seen = 0;
    server.isLost = () => ++seen >= first && seen < first + count;
    let outcome: unknown = "pending";
    make(caller).then((value) => outcome = value, (error) => outcome = error);
    await clock.advance(LIMIT_MS);
    const where = `messages ${first} to ${first + count - 1}`;
    expect(outcome, where).not.toBe("pending");
    if (outcome instanceof Error) expect(outcome, where).toBeInstanceOf(WorkerLostError);
    else expect(outcome, where).toBe(expected);
    if (count === 0) expect(outcome).toBe(expected);
    const sent = seen;
    // The message that cancels it may be lost: then the machine waits for a caller that asks no more.
    await clock.advance(70_000);
    expect([caller.stats().inFlight, machine.stats().inFlight], where).toEqual([0, 0]);
    return sent;
  };

  test("survives that all processes are suspended for ten minutes", async () => {
    const all = await lose(1, 0);
    for (let first = 1; first <= Math.min(all, MAX_FIRST); first++) {
      const { clock, server, caller } = network();
      let seen = 0;
      server.isLost = () => {
        if (++seen === first) clock.suspend(600_000);
        return false;
      };
      let outcome: unknown = "pending";
      make(caller).then((value) => outcome = value, (error) => outcome = error);
      await clock.advance(LIMIT_MS);
      expect(outcome, `suspended at message ${first}`).toBe(expected);
    }
  });

  test.each([1, 3, 9, 30])("ends when %i messages in a row are lost", async (count) => {
    const all = await lose(1, 0);
    for (let first = 1; first <= Math.min(all, MAX_FIRST); first++) await lose(first, count);
  });
});
