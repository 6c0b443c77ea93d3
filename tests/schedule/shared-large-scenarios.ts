/**
 * Large values, which are written outside the latch: a record of a channel that its writer has claimed (its token, then WRITTEN or
 * ABANDONED), and memory of a map that is reserved (the token, then 0).
 */
import { createChannel } from "../../src/shared/channel/channel.ts";
import { MAX_LATCHED_BYTES, RING } from "../../src/shared/channel/layout.ts";
import { NOTHING, Queue } from "../../src/shared/channel/queue.ts";
import { memoryOf } from "../../src/shared/handles.ts";
import { hashKey } from "../../src/shared/map/keys.ts";
import {
  BLOCK_WORDS,
  BLOCKS,
  BUCKET_BITS,
  BUCKETS,
  IS_FREE,
  LIMBO,
  MAX_BLOCKS,
  NEXT,
  NOTHING_STARTS,
  placesOf,
  REMOVED_NEXT,
  VALUE_BYTES,
  WAITING,
} from "../../src/shared/map/layout.ts";
import { SharedMap } from "../../src/shared/map/shared-map.ts";
import { Table } from "../../src/shared/map/table.ts";
import { ObjectMemory } from "../../src/shared/memory.ts";
import { ThisThread } from "../../src/shared/threads/this-thread.ts";
import { type Encoded, Values } from "../../src/shared/values.ts";
import { viewMemory } from "../../src/memory/views.ts";
import type { Scenario } from "./scenarios.ts";
import {
  markEnd,
  notesAt,
  OBJECT,
  type SharedParts,
  type SharedRole,
  type SharedThread,
  sharing,
  tokenOf,
} from "./shared-bench.ts";

/** A list in the notes: values received. */
const RECEIVED = 8;

/** Word of the root: how many have died. */
const DEATHS = 3;
/** Word of the state of the first record. */
const FIRST_STATE = RING / 4 + 2;

const textOf = (value: number): string => String(value).repeat(MAX_LATCHED_BYTES);

const queueOf = (thread: SharedThread): Queue =>
  new Queue(thread.memory("channel"), new Values(thread.thread.runtime));

/** Without a wait: the channel has room for all. */
const send = (...values: number[]): SharedRole => (thread) => {
  const queue = queueOf(thread);
  for (const value of values) {
    queue.values.encode(textOf(value), () => "It", (encoded) => {
      thread.until(() => queue.send(encoded, false));
    });
  }
};

/** Its copy fails in the middle, as where a stack ends. Then it sends another. */
const failThenSend = (value: number): SharedRole => (thread) => {
  const queue = queueOf(thread);
  const memory = viewMemory(new SharedArrayBuffer(8));
  const fail = (): never => {
    throw new RangeError("no stack");
  };
  Object.defineProperty(memory, "u8", { get: fail });
  try {
    queue.send({ memory, bytes: 2 * MAX_LATCHED_BYTES }, false);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  send(value)(thread);
};

/** Notes a value, or -1 for one that is torn. */
function note(thread: SharedThread, value: unknown): void {
  const number = Number(String(value)[0]);
  thread.note(RECEIVED, value === textOf(number) ? number : -1);
}

/** In the event loop. */
const receive = (count: number): SharedRole => async (thread) => {
  const queue = queueOf(thread);
  for (let left = count; left > 0; left--) {
    let value: unknown = NOTHING;
    const check = (): boolean => (value = queue.receive(true)) !== NOTHING;
    await thread.thread.loop.until({ check }, "Receiving", {});
    note(thread, value);
  }
};

/** A channel of which each thread has both ends. */
function prepareChannel(main: ThisThread, workers: number): ObjectMemory {
  const memory = createChannel({ capacity: 4, maxBytes: 2 ** 17 }, false);
  for (let index = 0; index <= workers; index++) {
    const thread = new ThisThread(main.root, tokenOf(index), false, main.runtime);
    const adopted = ObjectMemory.adopt("channel", memory.buffer, thread);
    const { ends } = new Queue(adopted, new Values(main.runtime));
    ends.open("sender");
    ends.open("receiver");
  }
  return memory;
}

interface Passing extends Omit<SharedParts, "prepare" | "check"> {
  check(received: readonly number[]): string | undefined;
}

const passing = ({ check, ...parts }: Passing): Scenario =>
  sharing({
    ...parts,
    prepare: (main) => [prepareChannel(main, parts.workers.length)],
    check(notes) {
      const received = notesAt(notes, RECEIVED);
      return received.includes(-1) ? "lost: a value is torn" : check(received);
    },
  });

const expect = (...expected: number[]) => (received: readonly number[]) =>
  received.join() === expected.join() ? undefined : `lost: received ${received.join()}`;

const expectSet = (...expected: number[]) => (received: readonly number[]) =>
  expect(...expected)([...received].sort());

/** After the death of the first worker. */
const afterDeath = (role: SharedRole): SharedRole => (thread) => {
  const { words } = thread.thread.root;
  thread.until(() => words[DEATHS] !== 0);
  return role(thread);
};

const encodedOf = (value: number): Encoded => {
  const bytes = MAX_LATCHED_BYTES + 8;
  const memory = viewMemory(new SharedArrayBuffer(bytes));
  memory.i32.fill(value);
  return { memory, bytes };
};

const tableOf = (thread: SharedThread): Table => new Table(thread.memory("map"));

const set = (...values: number[]): SharedRole => (thread) => {
  const table = tableOf(thread);
  const key = hashKey("key", table.seed);
  for (const value of values) {
    if (typeof table.put(key, encodedOf(value), undefined, () => true) !== "boolean") {
      throw new Error("lost: there is no room");
    }
  }
};

/** A map with memory for some large values, since buffers do not grow here. */
function prepareMap(): ObjectMemory {
  const map = new SharedMap<number, Uint8Array>({ maxBytes: 2 ** 18 });
  for (let key = 0; key < 6; key++) map.set(key, new Uint8Array(MAX_LATCHED_BYTES + 8));
  map.clear();
  return memoryOf(map);
}

/** Whether the map has one whole value, and each block that is in use is an entry or was removed. */
function checkMap(words: Int32Array<SharedArrayBuffer>, ...values: number[]): string | undefined {
  const { states, arena, bucketMask } = placesOf(words[BUCKET_BITS]!, words[MAX_BLOCKS]!, false);
  const wordAt = (link: number): number => (arena >> 2) + (link - 1) * BLOCK_WORDS;
  const known = new Set<number>();
  const follow = (first: number, next: number): void => {
    for (let link = first; link !== 0; link = words[wordAt(link) + next]!) known.add(link - 1);
  };
  const heads = [...words.subarray(BUCKETS, BUCKETS + bucketMask + 1)].filter((link) => link !== 0);
  for (const head of heads) follow(head, NEXT);
  if (heads.length !== 1) return `lost: ${heads.length} entries`;
  const entry = wordAt(heads[0]!);
  const value = entry + 12; // behind the header and a key of eight bytes
  const all = words.subarray(value, value + words[entry + VALUE_BYTES]! / 4);
  if (!values.includes(all[0]!) || all.some((word) => word !== all[0])) return "lost: torn value";
  for (const first of [LIMBO, WAITING]) follow(words[first]!, REMOVED_NEXT);
  const bytes = new Uint8Array(words.buffer, states, words[BLOCKS]!);
  const used = [...bytes.keys()].filter((block) =>
    bytes[block] !== NOTHING_STARTS && (bytes[block]! & IS_FREE) === 0
  );
  const lost = used.filter((block) => !known.has(block));
  return lost.length === 0 ? undefined : `lost: ${lost.length} blocks`;
}

const mapping = (
  values: readonly number[],
  parts: Omit<SharedParts, "prepare" | "check">,
): Scenario =>
  sharing({
    ...parts,
    prepare: () => [prepareMap()],
    check: (_, [words]) => checkMap(words!, ...values),
  });

export const largeScenarios: Readonly<Record<string, Scenario>> = {
  "channel, large values": passing({
    workers: [send(1, 2)],
    main: receive(2),
    check: expect(1, 2),
  }),
  "channel, large values of two senders": passing({
    workers: [send(1), send(2)],
    main: receive(2),
    check: expectSet(1, 2),
  }),
  "channel, large values for two receivers": passing({
    workers: [send(1, 2), receive(1)],
    main: receive(1),
    check: expectSet(1, 2),
  }),
  "channel, a large value whose copy fails": passing({
    workers: [failThenSend(1)],
    main: receive(1),
    check: expect(1),
  }),
  "map, large values of two threads": mapping([1, 2], { workers: [set(1), set(2)] }),
  "map, a large value whose thread dies": mapping([1, 2], {
    workers: [set(1), afterDeath(set(2))],
    main: markEnd,
    isMortal: true,
  }),
  "broken: channel, a large value that is never marked as written": passing({
    workers: [send(1)],
    main: receive(1),
    fault: ({ operation, buffer, word }) =>
      operation === "store" && buffer === OBJECT && word === FIRST_STATE,
    check: expect(1),
  }),
  "broken: channel, a large value whose copy fails is not given up": passing({
    workers: [failThenSend(1)],
    main: receive(1),
    fault: ({ operation, buffer, word }) =>
      operation === "store" && buffer === OBJECT && word === FIRST_STATE,
    check: expect(1),
  }),
  "broken: map, memory of the dead that is freed by nobody": mapping([1, 2], {
    workers: [set(1), (thread) => set(2)(thread)],
    isMortal: true,
  }),
};
