/** Channels: values in order, each once; waits end when there is a value, room or an end. */
import { ChannelClosedError, WaitTimeoutError } from "../../src/shared-errors.ts";
import { createChannel, Receiver, Sender } from "../../src/shared/channel/channel.ts";
import type { Side } from "../../src/shared/channel/ends.ts";
import {
  RECEIVE_WAITS,
  RECEIVED as TAKEN,
  SEND_WAITS,
  SENT as LAST_SENT,
} from "../../src/shared/channel/layout.ts";
import { Queue } from "../../src/shared/channel/queue.ts";
import { ObjectMemory } from "../../src/shared/memory.ts";
import { ThisThread } from "../../src/shared/threads/this-thread.ts";
import { Values } from "../../src/shared/values.ts";
import type { Scenario } from "./scenarios.ts";
import {
  markEnd,
  notesAt,
  OBJECT,
  type SharedParts,
  type SharedRole,
  type SharedThread,
  sharing,
  TIME_LIMIT_MS,
  tokenOf,
} from "./shared-bench.ts";

/** Notes: values sent so far, ends that were noticed, waits that timed out, most values in the channel, and lists of values received. */
const SENT = 0;
const ENDED = 1;
const GIVEN_UP = 2;
const FULLEST = 3;
const RECEIVED = 8;
const RECEIVED_TOO = 24;

const queueOf = (memory: ObjectMemory): Queue =>
  new Queue(memory, new Values(memory.thread.runtime));

/** A channel of which the main thread (the first of `sides`) and the workers have an end each, if any. */
function prepareChannel(
  main: ThisThread,
  sides: readonly (Side | undefined)[],
  capacity: number,
): ObjectMemory {
  const memory = createChannel({ capacity, maxBytes: 128 }, false);
  for (const [index, side] of sides.entries()) {
    if (side === undefined) continue;
    const thread = new ThisThread(main.root, tokenOf(index), false, main.runtime);
    queueOf(ObjectMemory.adopt("channel", memory.buffer, thread)).ends.open(side);
  }
  return memory;
}

/** The queue, whose end of this thread is open. */
function openQueue(thread: SharedThread): Queue {
  const queue = queueOf(thread.memory("channel"));
  Object.defineProperty(queue.ends, "open", { value: () => {} });
  return queue;
}

const senderOf = (thread: SharedThread): Sender<number> =>
  new Sender("sender", openQueue(thread), "");

const receiverOf = (thread: SharedThread): Receiver<number> =>
  new Receiver("receiver", openQueue(thread), "");

const send = (...values: number[]): SharedRole => (thread) => {
  const sender = senderOf(thread);
  const words = thread.memory("channel").view.i32;
  for (const value of values) {
    sender.sendSync(value);
    thread.notes[SENT]!++;
    thread.notes[FULLEST] = Math.max(thread.notes[FULLEST]!, words[LAST_SENT]! - words[TAKEN]!);
  }
};

const sendAndClose = (...values: number[]): SharedRole => (thread) => {
  const sender = senderOf(thread);
  for (const value of values) sender.sendSync(value);
  sender.close();
};

const awaitSend = (...values: number[]): SharedRole => async (thread) => {
  const sender = senderOf(thread);
  for (const value of values) await sender.send(value);
};

/** Sends without waiting for each, so that the values take turns. */
const sendAll = (...values: number[]): SharedRole => async (thread) => {
  const sender = senderOf(thread);
  await Promise.all(values.map((value) => sender.send(value)));
};

const receive = (count: number): SharedRole => (thread) => {
  const receiver = receiverOf(thread);
  for (let left = count; left > 0; left--) thread.note(RECEIVED, receiver.receiveSync());
};

const receiveAndClose = (count: number): SharedRole => (thread) => {
  const receiver = receiverOf(thread);
  for (let left = count; left > 0; left--) thread.note(RECEIVED, receiver.receiveSync());
  receiver.close();
};

const awaitReceive = (count: number): SharedRole => async (thread) => {
  const receiver = receiverOf(thread);
  for (let left = count; left > 0; left--) thread.note(RECEIVED, await receiver.receive());
};

function noteEnd(thread: SharedThread, error: unknown): void {
  if (!(error instanceof ChannelClosedError)) throw error;
  thread.notes[ENDED]!++;
}

/** Until there is no receiver. */
const sendUntilClosed: SharedRole = (thread) => {
  const sender = senderOf(thread);
  try {
    for (let value = 1;; value++) sender.sendSync(value);
  } catch (error) {
    noteEnd(thread, error);
  }
};

/** Until there is no sender. */
const receiveUntilClosed: SharedRole = (thread) => {
  const receiver = receiverOf(thread);
  try {
    for (;;) thread.note(RECEIVED, receiver.receiveSync());
  } catch (error) {
    noteEnd(thread, error);
  }
};

const awaitUntilClosed: SharedRole = async (thread) => {
  const receiver = receiverOf(thread);
  try {
    for (;;) thread.note(RECEIVED, await receiver.receive());
  } catch (error) {
    noteEnd(thread, error);
  }
};

/** One value, or none in its time. */
const receiveOrGiveUp: SharedRole = (thread) => {
  const receiver = receiverOf(thread);
  try {
    thread.note(RECEIVED_TOO, receiver.receiveSync({ timeoutMs: TIME_LIMIT_MS }));
  } catch (error) {
    if (error instanceof ChannelClosedError) return;
    if (!(error instanceof WaitTimeoutError)) throw error;
    thread.notes[GIVEN_UP]!++;
  }
};

interface ChannelParts extends Omit<SharedParts, "prepare" | "check"> {
  /** Of the ends of the workers and of the main thread. */
  readonly sides: readonly Side[];
  readonly mainSide?: Side;
  readonly capacity?: number;
  check(received: readonly number[], notes: Int32Array): string | undefined;
}

const passing = ({ sides, mainSide, capacity = 1, check, ...parts }: ChannelParts): Scenario =>
  sharing({
    ...parts,
    prepare: (main) => [prepareChannel(main, [mainSide, ...sides], capacity)],
    check(notes) {
      if (notes[FULLEST]! > capacity) return `lost count: ${notes[FULLEST]} values in it`;
      return check([...notesAt(notes, RECEIVED), ...notesAt(notes, RECEIVED_TOO)], notes);
    },
  });

const expect = (...expected: number[]) => (received: readonly number[]) =>
  received.join() === expected.join() ? undefined : `lost: received ${received.join()}`;

/** In any order. */
const expectSet = (...expected: number[]) => (received: readonly number[]) =>
  expect(...expected)([...received].sort((a, b) => a - b));

/** The values of each sender, 1 to 9 and 11 to 19, in their order. */
const expectEach = (...expected: number[]) => (received: readonly number[]) => {
  for (const start of [0, 10]) {
    const own = received.filter((value) => value > start && value < start + 10);
    if (own.some((value, index) => value < own[index - 1]!)) {
      return `lost order: ${received.join()}`;
    }
  }
  return expectSet(...expected)(received);
};

/** The waits of one side end with an error. */
const expectEnd =
  (...expected: number[]) => (received: readonly number[], notes: Int32Array): string | undefined =>
    notes[ENDED] === 1 ? expect(...expected)(received) : "lost: the end was not noticed";

const pair = (sender: SharedRole, receiver: SharedRole) => ({
  sides: ["sender", "receiver"] as const,
  workers: [sender, receiver],
});

export const channelScenarios: Readonly<Record<string, Scenario>> = {
  "channel for one value": passing({ ...pair(send(1, 2), receive(2)), check: expect(1, 2) }),
  "channel for two values": passing({
    ...pair(send(1, 2, 3), receive(3)),
    capacity: 2,
    check: expect(1, 2, 3),
  }),
  "channel, received in the event loop": passing({
    sides: ["sender"],
    workers: [send(1, 2)],
    mainSide: "receiver",
    main: awaitReceive(2),
    check: expect(1, 2),
  }),
  "channel, sent in the event loop": passing({
    sides: ["receiver"],
    workers: [receive(2)],
    mainSide: "sender",
    main: awaitSend(1, 2),
    check: expect(1, 2),
  }),
  "channel, three values at once from the event loop": passing({
    sides: ["receiver"],
    workers: [receive(3)],
    mainSide: "sender",
    main: sendAll(1, 2, 3),
    check: expect(1, 2, 3),
  }),
  "channel, two senders": passing({
    sides: ["sender", "receiver", "sender"],
    workers: [send(1, 2), receive(3), send(11)],
    check: expectEach(1, 2, 11),
  }),
  "channel, two receivers": passing({
    sides: ["sender", "receiver", "receiver"],
    workers: [send(1, 2), receive(1), receive(1)],
    check: expectSet(1, 2),
  }),
  "channel closed by its sender": passing({
    ...pair(sendAndClose(1), receiveUntilClosed),
    check: expectEnd(1),
  }),
  "channel closed by its sender, received in the event loop": passing({
    sides: ["sender"],
    workers: [sendAndClose(1)],
    mainSide: "receiver",
    main: awaitUntilClosed,
    check: expectEnd(1),
  }),
  "channel closed by two senders": passing({
    sides: ["sender", "receiver", "sender"],
    workers: [sendAndClose(), receiveUntilClosed, sendAndClose()],
    check: expectEnd(),
  }),
  "channel closed by its receiver": passing({
    ...pair(sendUntilClosed, receiveAndClose(1)),
    check: expectEnd(1),
  }),
  "channel closed by its receiver with a value in it": passing({
    ...pair(sendUntilClosed, receiveAndClose(0)),
    check: expectEnd(),
  }),
  "channel, given up or received": passing({
    sides: ["sender", "receiver", "receiver"],
    workers: [sendAndClose(1), receiveUntilClosed, receiveOrGiveUp],
    check: expectEnd(1),
  }),
  "channel whose sender dies": passing({
    ...pair(send(1, 2), receiveUntilClosed),
    main: markEnd,
    isMortal: true,
    check(received, notes) {
      const sent = notes[SENT]!;
      if (received.length < sent) return `lost: ${sent} sent, received ${received.join()}`;
      return expectEnd(...[1, 2].slice(0, received.length))(received, notes);
    },
  }),
  "channel whose receiver dies": passing({
    sides: ["receiver", "sender"],
    workers: [receive(1), sendUntilClosed],
    main: markEnd,
    isMortal: true,
    check: (received, notes) => expectEnd(...[1].slice(0, received.length))(received, notes),
  }),
  "broken: channel whose receivers are not registered": passing({
    ...pair(send(1), receive(1)),
    fault: ({ operation, buffer, word }) =>
      operation === "or" && buffer === OBJECT && word === RECEIVE_WAITS,
    check: expect(1),
  }),
  "broken: channel whose senders are not registered": passing({
    ...pair(send(1, 2), receive(2)),
    fault: ({ operation, buffer, word }) =>
      operation === "or" && buffer === OBJECT && word === SEND_WAITS,
    check: expect(1, 2),
  }),
};
