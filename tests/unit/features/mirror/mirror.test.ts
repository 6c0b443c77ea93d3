/** Schedules of both copies of a lane: whatever the order of their steps, each call is run or revoked, once and in order. */
import { describe, expect, test } from "vitest";
import {
  CALL,
  DESCRIPTOR_WORD,
  FRAME_BYTES,
  RESULT,
  TASK_WORD,
} from "../../../../src/lane/frame.ts";
import { IS_CLOSING, REQUEST_RING, responseRing, WAITS_FOR } from "../../../../src/lane/layout.ts";
import { HostMirror } from "../../../../src/features/workers/mirror/host/host-mirror.ts";
import {
  MAX_SENT,
  type MirrorMessage,
} from "../../../../src/features/workers/mirror/mirror-message.ts";
import { WorkerMirror } from "../../../../src/features/workers/mirror/worker/worker-mirror.ts";
import {
  type MirrorData,
  type MirroredStart,
  withMemory,
  withoutMemory,
} from "../../../../src/features/workers/mirror/mirrored-start.ts";
import type { WorkerStart } from "../../../../src/protocol/start-data.ts";
import { EMPTY, type RingConsumer } from "../../../../src/ring/consumer.ts";
import { NO_SPACE, type RingProducer } from "../../../../src/ring/producer.ts";
import { SpscRing } from "../../../../src/ring/spsc-ring.ts";
import { createRandom, upTo } from "../../../support/random.ts";

/** Words of estimates: of task 0 unknown, 1 short, 2 async, 3 long. */
const LOADS = [0, 4, 5, 6];
const mayFollow = (load: number): boolean => load !== 0 && (load & 3) !== 2;

const ID_WORD = FRAME_BYTES / 4;

function produce(tx: RingProducer, kind: number, task: number, id: number, bytes: number): boolean {
  const index = tx.claim(FRAME_BYTES + bytes);
  if (index === NO_SPACE) return false;
  const { i32 } = tx.memory;
  const word = index >> 2;
  i32[word + DESCRIPTOR_WORD] = kind;
  i32[word + TASK_WORD] = task;
  i32[word + ID_WORD] = id;
  tx.commit(index + FRAME_BYTES + bytes);
  return true;
}

const idAt = ({ memory: { i32 } }: RingConsumer, index: number): number =>
  i32[(index >> 2) + ID_WORD]!;

/** Both sides of a lane, with the messages that are under way. */
function createLane(capacity: number) {
  const ringSizes = { requests: capacity, responses: capacity };
  const created = withMemory({} as MirroredStart, { ringSizes, timingBytes: 16 });
  // The host's copy is made in the same way.
  const host = created.lane;
  const loads = new Int32Array(created.taskTimings);
  loads.set(LOADS);
  const features = { limits: new SharedArrayBuffer(8), scaling: 1 };
  const given = { ...created, requestCapacity: capacity, features } as WorkerStart;
  const posted = withoutMemory(given, ringSizes, false);
  expect(JSON.stringify(posted)).not.toContain("Buffer");
  const { scaling, mirror } = posted.features;
  expect(scaling).toBe(1);
  const own = withMemory(posted, mirror as MirrorData);
  const ownLoads = new Int32Array(own.taskTimings);
  const toWorker: MirrorMessage[] = [];
  const toHost: MirrorMessage[] = [];
  const microtasks: (() => void)[] = [];
  const clone = (message: MirrorMessage): MirrorMessage => structuredClone(message);
  const hostMirror = new HostMirror({
    memory: host,
    requestCapacity: capacity,
    loads,
    mayFollow,
    maxSent: MAX_SENT,
    coarseNow: () => 1,
    post: (message) => void toWorker.push(clone(message)),
    microtask: (callback) => void microtasks.push(callback),
  });
  const workerMirror = new WorkerMirror({
    memory: own.lane,
    requestCapacity: capacity,
    loads: ownLoads,
    post: (message) => void toHost.push(clone(message)),
    now: () => 0, // responses gather whenever they may
  });
  const ring = (memory: SharedArrayBuffer, at: number): SpscRing => SpscRing.attach(memory, at);
  const lane = {
    hostMirror,
    workerMirror,
    toWorker,
    toHost,
    microtasks,
    loads,
    ownLoads,
    control: new Int32Array(host, 0, REQUEST_RING / 4),
    ownControl: new Int32Array(own.lane, 0, REQUEST_RING / 4),
    tx: ring(host, REQUEST_RING).takeProducer(),
    rx: ring(host, responseRing(capacity)).takeConsumer(),
    ownTx: ring(own.lane, responseRing(capacity)).takeProducer(),
    ownRx: ring(own.lane, REQUEST_RING).takeConsumer(),
  };
  workerMirror.publish = () => lane.ownRx.publish();
  workerMirror.hasMore = () => lane.ownRx.hasRecord;
  return lane;
}

/** Takes random steps, then steps until nothing is under way. */
function explore(seed: number, capacity: number, steps: number): void {
  const random = createRandom(seed);
  const lane = createLane(capacity);
  const made: number[] = [];
  const revoked = new Set<number>();
  const run: number[] = [];
  const answers: number[] = [];
  const waiting: number[] = [];
  let closing = 0;
  const host = {
    call: (): void => {
      const id = made.length + 1;
      if (!produce(lane.tx, CALL, upTo(random, 3), id, 8 + 8 * upTo(random, 6))) return;
      made.push(id);
      lane.hostMirror.wake();
    },
    revoke: (): void => {
      const queued = lane.tx.unreleased(Infinity, (index) => lane.tx.isQueued(index));
      const index = queued[upTo(random, queued.length - 1)];
      if (index !== undefined && lane.tx.revoke(index)) {
        revoked.add(lane.tx.memory.i32[(index >> 2) + ID_WORD]!);
      }
    },
    microtask: (): void => lane.microtasks.shift()?.(),
    receive: (): void => {
      const message = lane.toHost.shift();
      if (message !== undefined) lane.hostMirror.receive(message);
    },
    take: (): void => {
      const index = lane.rx.poll();
      if (index === EMPTY) return;
      lane.rx.verify(index);
      answers.push(idAt(lane.rx, index));
      if (lane.rx.release()) lane.hostMirror.take();
    },
  };
  const worker = {
    receive: (): void => {
      const message = lane.toWorker.shift();
      if (message !== undefined) lane.workerMirror.receive(message);
    },
    run: (): void => {
      const index = lane.ownRx.poll();
      if (index === EMPTY) return;
      const id = idAt(lane.ownRx, index);
      if (lane.ownRx.acquire(index)) {
        run.push(id);
        // As streams do: items before the result.
        for (let items = upTo(random, 3); items > 0; items--) waiting.push(-id);
        waiting.push(id);
      } else expect(revoked.has(id)).toBe(true);
      if (lane.ownRx.release()) lane.workerMirror.take();
    },
    answer: (): void => {
      const [id] = waiting;
      if (id === undefined || !produce(lane.ownTx, RESULT, 0, id, 8)) return;
      waiting.shift();
      lane.workerMirror.wake();
    },
    fill: (): void => {
      // It takes no calls for now, or again.
      const waitsFor = Atomics.load(lane.ownControl, WAITS_FOR) === 0 ? 2 : 0;
      Atomics.store(lane.ownControl, WAITS_FOR, waitsFor);
      lane.workerMirror.take();
    },
    park: (): void => {
      lane.ownRx.publish();
      lane.workerMirror.take();
    },
  };
  const actions = [
    ...Object.values(host),
    ...Object.values(worker),
    host.call,
    worker.run,
    worker.answer,
  ];
  for (let step = 0; step < steps; step++) {
    actions[upTo(random, actions.length - 1)]!();
    if (step === steps >> 1) {
      closing = 1;
      Atomics.store(lane.control, IS_CLOSING, closing);
      lane.hostMirror.wake();
    }
  }
  Atomics.store(lane.ownControl, WAITS_FOR, 0);
  const rest = [
    host.microtask,
    worker.receive,
    worker.run,
    worker.answer,
    worker.park,
    host.receive,
    host.take,
  ];
  for (let round = 0; round < 12 * made.length + 50; round++) for (const step of rest) step();
  expect(run).toEqual(made.filter((id) => !revoked.has(id)));
  expect(answers.filter((id) => id > 0)).toEqual(run);
  expect(waiting).toEqual([]);
  expect(Atomics.load(lane.ownControl, IS_CLOSING)).toBe(closing);
  expect(lane.toWorker.length + lane.toHost.length + lane.microtasks.length).toBe(0);
}

describe("two copies of a lane", () => {
  test.each([[256, 400], [1024, 1500], [65_536, 3000]])(
    "agree in the end, rings of %i bytes",
    (capacity, steps) => {
      for (let seed = 1; seed <= 60; seed++) explore(seed, capacity, steps);
    },
  );

  test("a call that may be long is sent alone, short and async ones by the dozen", () => {
    const lane = createLane(65_536);
    const sent = (): number => {
      for (const callback of lane.microtasks.splice(0)) callback();
      const records = lane.toWorker.splice(0).map(({ records }) => records?.length ?? 0);
      return records.reduce((sum, words) => sum + words, 0) / 8;
    };
    const call = (task: number): void => {
      expect(produce(lane.tx, CALL, task, 1, 8)).toBe(true);
      lane.hostMirror.wake();
    };
    for (const task of [3, 1, 1]) call(task);
    expect(sent()).toBe(1); // the long one
    lane.hostMirror.receive({ heddle: "mirror", head: 32, records: undefined });
    expect(sent()).toBe(2); // the worker has taken it
    for (let n = 0; n < 100; n++) call(n % 2 === 0 ? 1 : 2);
    expect(sent()).toBe(62);
    call(0);
    expect(sent()).toBe(0);
  });

  test("what the worker had not begun when it ended can be revoked, and nothing that was revoked before", () => {
    const lane = createLane(1024);
    const ids = [1, 2, 3, 4];
    for (const id of ids) produce(lane.tx, CALL, 1, id, 8);
    const [first = -1, second = -1] = lane.tx.unreleased();
    expect(lane.tx.revoke(second)).toBe(true);
    lane.hostMirror.flush();
    expect(lane.tx.unreleased(Infinity, (index) => lane.tx.isQueued(index))).toEqual([]);
    lane.hostMirror.recover(lane.tx.memory.i32[first >> 2]!);
    const queued = lane.tx.unreleased(Infinity, (index) => lane.tx.isQueued(index));
    expect(queued.map((index) => lane.tx.memory.i32[(index >> 2) + ID_WORD])).toEqual([3, 4]);
  });

  test("more records than the ring has room for are refused, and nothing is overwritten", () => {
    const lane = createLane(256);
    const records = new Int32Array(new SharedArrayBuffer(64));
    records.set([32, 0, 1, 1, 1, 1, 1, 1, 32, 4, 1, 1, 1, 1, 1, 1]);
    const message = { heddle: "mirror", head: 0, records } as const;
    for (let sent = 0; sent < 4; sent++) lane.hostMirror.receive(message);
    expect(() => lane.hostMirror.receive(message)).toThrow(
      /Record length 32 at index 0 is impossible/,
    );
  });

  test("what a worker that has ended cannot have begun is not believed", () => {
    const lane = createLane(1024);
    produce(lane.tx, CALL, 1, 1, 8);
    lane.hostMirror.flush();
    for (const noted of [4, 8000, undefined]) lane.hostMirror.recover(noted);
    expect(lane.tx.unreleased(Infinity, (index) => lane.tx.isQueued(index))).toEqual([]);
  });

  test("the worker's words and estimates arrive with its messages", () => {
    const lane = createLane(1024);
    produce(lane.tx, CALL, 1, 7, 8);
    lane.hostMirror.flush();
    lane.workerMirror.receive(lane.toWorker.shift()!);
    lane.ownRx.acquire(lane.ownRx.poll());
    lane.ownRx.release();
    lane.ownLoads[1] = 44;
    Atomics.store(lane.ownControl, WAITS_FOR, 2);
    lane.workerMirror.take();
    lane.hostMirror.receive(lane.toHost.shift()!);
    expect([lane.loads[1], lane.control[WAITS_FOR], lane.tx.hasUnread]).toEqual([44, 2, false]);
  });
});
