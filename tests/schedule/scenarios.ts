/**
 * What the lockstep explorer runs: the real rings and parking protocols, on rings of a few records,
 * with infinite waits, so that a lost wake-up is a deadlock. Scenarios named `broken: …` leave one
 * step of a protocol out; the explorer must find the schedule in which that matters.
 */
import { HostParker, HostWaker } from "../../src/sync/host-parking.ts";
import { SpaceFlag } from "../../src/sync/space-flag.ts";
import { BLOCKED, IN_EVENT_LOOP, Parker, RUNNING, Waker } from "../../src/sync/worker-parking.ts";
import type { RingConsumer } from "../../src/ring/consumer.ts";
import type { RingProducer } from "../../src/ring/producer.ts";
import { QUEUED, revokedState, STATE_MASK, stateSlot } from "../../src/ring/record-layout.ts";
import { ringBytes } from "../../src/ring/ring-layout.ts";
import { SpscRing } from "../../src/ring/spsc-ring.ts";
import { endingsScenarios } from "./endings-scenarios.ts";
import type { Lockstep } from "./lockstep-atomics.ts";
import type { EventLoop } from "./lockstep-loop.ts";
import type { OperationName } from "./lockstep-protocol.ts";

/** What a role has of the thread that performs it. */
export interface LockstepThread {
  readonly lockstep: Lockstep;
  readonly loop: EventLoop;
  readonly buffers: readonly SharedArrayBuffer[];
}

/** Of an operation of a broken scenario, whether it does nothing (a compare-exchange or exchange returns what is there). */
export type Fault = (operation: {
  readonly operation: OperationName;
  /** Index of the buffer, and of the word in it. */
  readonly buffer: number;
  readonly word: number;
  readonly thread: number;
}) => boolean;

export interface Scenario {
  readonly bytes: number;
  /** Sizes of more buffers that all threads see. */
  readonly moreBytes?: readonly number[];
  reset(memory: SharedArrayBuffer, more: readonly SharedArrayBuffer[]): void;
  readonly threads: readonly ((
    memory: SharedArrayBuffer,
    thread: LockstepThread,
  ) => void | Promise<void>)[];
  /** Index of a thread that may die at any step. */
  readonly mortal?: number;
  readonly fault?: Fault;
  /** Words that no thread changes while this one takes steps: loads of them are no steps. */
  readonly isConstant?: (word: {
    readonly buffer: number;
    readonly word: number;
    readonly thread: number;
  }) => boolean;
  /** Undefined if the final state is right. Runs in the controller. */
  check(memory: SharedArrayBuffer, more: readonly SharedArrayBuffer[]): string | undefined;
}

type Words = Int32Array<SharedArrayBuffer>;

/** Control words in front of the rings. */
const PARKED = 0;
const HOST_PARKED = 1;
const WANTS_SPACE = 2;
const MESSAGES = 3;
const POSTS = 4;
const PARKS = 5;
/** How many workers count as awake. */
const ACTIVE = 6;
/** What was received, in order: a count and the values. Written by one thread, not atomically. */
const RECEIVED = 8;
const CONTROL_BYTES = 256;

const words = (memory: SharedArrayBuffer): Words => new Int32Array(memory, 0, CONTROL_BYTES / 4);
const RING_0 = CONTROL_BYTES;
const ringAt = (index: number, capacity: number) => RING_0 + index * ringBytes(capacity);

function send(producer: RingProducer, value: number): boolean {
  const index = producer.claim(16);
  if (index < 0) return false;
  producer.memory.i32[(index + 8) >> 2] = value;
  producer.memory.i32[(index + 12) >> 2] = ~value;
  producer.commit(index + 16);
  return true;
}

/** Receives one record into the log. False: none there. */
function receive(consumer: RingConsumer, control: Words): boolean {
  const index = consumer.poll();
  if (index < 0) return false;
  if (!consumer.acquire(index)) throw new Error("nobody revokes here");
  const value = consumer.memory.i32[(index + 8) >> 2]!;
  if (consumer.memory.i32[(index + 12) >> 2] !== ~value) throw new Error("torn record");
  consumer.release();
  const count = ++control[RECEIVED]!;
  control[RECEIVED + count] = value;
  return true;
}

function received(memory: SharedArrayBuffer): number[] {
  const control = words(memory);
  return [...control.subarray(RECEIVED + 1, RECEIVED + 1 + control[RECEIVED]!)];
}

function expectReceived(memory: SharedArrayBuffer, expected: readonly number[]) {
  const got = received(memory);
  return got.join() === expected.join() ? undefined : `received ${got.join()}`;
}

/** The event loop as a thread sees it: posts count up, taking a message counts down. */
function post(control: Words): void {
  control[POSTS]!++;
  Atomics.add(control, MESSAGES, 1);
  Atomics.notify(control, MESSAGES, 1);
}

function takeMessage(control: Words): void {
  for (;;) {
    if (Atomics.load(control, MESSAGES) > 0) {
      Atomics.add(control, MESSAGES, -1);
      return;
    }
    Atomics.wait(control, MESSAGES, 0);
  }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Producer and consumer that spin: order, wrap, padding and full rings. */
function transfer(capacity: number, count: number, rewindBytes?: number, position = 0): Scenario {
  return {
    bytes: CONTROL_BYTES + ringBytes(capacity),
    reset(memory) {
      SpscRing.create(memory, RING_0, capacity);
      const header = new Int32Array(memory, RING_0);
      header[32] = header[64] = position;
    },
    threads: [
      (memory) => {
        const producer = SpscRing.attach(memory, RING_0).takeProducer(rewindBytes);
        for (const value of range(count)) while (!send(producer, value)) spin();
      },
      (memory) => {
        const consumer = SpscRing.attach(memory, RING_0).takeConsumer();
        const control = words(memory);
        for (let left = count; left > 0; left--) while (!receive(consumer, control)) spin();
      },
    ],
    check: (memory) => expectReceived(memory, range(count)),
  };
}

/** Revoked values, behind received ones: a count and the values. Written by the producer. */
const TAKEN = 24;

/** Whether a producer's attempt to take the record at `index` back succeeds. */
export type Revoke = (producer: RingProducer, index: number) => boolean;

/**
 * A producer that takes back what the consumer has not claimed, sends on in the same memory and takes
 * back again: every record is run or revoked, never both, never neither.
 */
function revoking(count: number, revoke: Revoke): Scenario {
  return {
    bytes: CONTROL_BYTES + ringBytes(64),
    reset: (memory) => void SpscRing.create(memory, RING_0, 64),
    threads: [
      (memory) => {
        const control = words(memory);
        const producer = SpscRing.attach(memory, RING_0).takeProducer();
        const subtract = (): void => {
          for (const index of producer.unreleased()) {
            const value = producer.memory.i32[(index + 8) >> 2]!;
            if (!producer.isQueued(index) || !revoke(producer, index)) continue;
            control[TAKEN + ++control[TAKEN]!] = value;
          }
        };
        for (const value of range(count)) {
          while (!send(producer, value)) spin();
          if (value % 2 === 0) subtract();
        }
      },
      (memory) => {
        const consumer = SpscRing.attach(memory, RING_0).takeConsumer();
        const control = words(memory);
        for (let left = count; left > 0;) {
          const index = consumer.poll();
          if (index < 0) {
            consumer.publish();
            spin();
            continue;
          }
          left--;
          if (consumer.acquire(index)) {
            const at = ++control[RECEIVED]!;
            control[RECEIVED + at] = consumer.memory.i32[(index + 8) >> 2]!;
          }
          consumer.release();
        }
      },
    ],
    check(memory) {
      const control = words(memory);
      const taken = [...control.subarray(TAKEN + 1, TAKEN + 1 + control[TAKEN]!)];
      const all = [...received(memory), ...taken].sort((a, b) => a - b);
      return all.join() === range(count).join() ? undefined : `lost or run twice: ${all.join()}`;
    },
  };
}

/**
 * A host that keeps its second call until the worker has nothing to do, and sleeps meanwhile: the worker
 * parks for good unless it is given that call. `isTelling`: whether a worker looks at the host's flag
 * after announcing its park.
 */
function keeping(isTelling: boolean): Scenario {
  return {
    bytes: CONTROL_BYTES + ringBytes(64),
    reset: (memory) => void SpscRing.create(memory, RING_0, 64),
    threads: [
      (memory) => {
        const control = words(memory);
        const producer = SpscRing.attach(memory, RING_0).takeProducer();
        const waker = new Waker(control, PARKED, () => post(control));
        const parker = new HostParker(control, HOST_PARKED);
        const flag = new SpaceFlag(control, WANTS_SPACE);
        const isResting = (): boolean => waker.state !== RUNNING && !producer.hasUnread;
        send(producer, 1);
        waker.wake();
        while (!isResting()) {
          parker.announce();
          flag.raise();
          if (!isResting()) takeMessage(control);
          parker.cancel();
        }
        send(producer, 2);
        waker.wake();
      },
      (memory) => {
        const control = words(memory);
        const consumer = SpscRing.attach(memory, RING_0).takeConsumer();
        const parker = new Parker(control, PARKED);
        const flag = new SpaceFlag(control, WANTS_SPACE);
        for (let left = 2; left > 0;) {
          if (receive(consumer, control)) {
            left--;
            continue;
          }
          consumer.publish();
          if (flag.take()) wakeHost(control);
          parker.announce(BLOCKED);
          if (isTelling && flag.take()) wakeHost(control);
          if (consumer.hasRecord) parker.cancel(BLOCKED);
          else parker.block(Infinity);
        }
      },
    ],
    check: (memory) => expectReceived(memory, [1, 2]),
  };
}

const spin = () => (Atomics as unknown as { pause(): void }).pause();

type Rest = (parker: Parker, consumer: RingConsumer, control: Words) => void;

/** A worker that rests by `rest`, and a host that sends and wakes, and counts whom it wakes if `isCounting`. */
function parking(
  count: number,
  rest: Rest,
  wake?: (waker: Waker) => void,
  isCounting = true,
): Scenario {
  return {
    bytes: CONTROL_BYTES + ringBytes(64),
    reset: (memory) => void SpscRing.create(memory, RING_0, 64),
    threads: [
      (memory) => {
        const control = words(memory);
        const producer = SpscRing.attach(memory, RING_0).takeProducer();
        const counts = isCounting ? [control.subarray(ACTIVE)] : [];
        const waker = new Waker(control, PARKED, () => post(control), counts);
        for (const value of range(count)) {
          if (!send(producer, value)) throw new Error("the ring holds them all");
          if (wake === undefined) waker.wake();
          else wake(waker);
        }
      },
      (memory) => {
        const control = words(memory);
        const consumer = SpscRing.attach(memory, RING_0).takeConsumer();
        const parker = new Parker(control, PARKED, [control.subarray(ACTIVE)]);
        for (let left = count; left > 0;) {
          if (receive(consumer, control)) left--;
          else rest(parker, consumer, control);
        }
      },
    ],
    check(memory) {
      const control = words(memory);
      if (control[POSTS]! > control[PARKS]!) return "more messages than parks";
      if (control[ACTIVE] !== 1) return `lost count: ${control[ACTIVE]}`;
      return expectReceived(memory, range(count));
    },
  };
}

const block = (timeoutMs: number): Rest => (parker, consumer) => {
  parker.announce(BLOCKED);
  if (consumer.hasRecord) parker.cancel(BLOCKED);
  else parker.block(timeoutMs);
};

const parkInLoop: Rest = (parker, consumer, control) => {
  control[PARKS]!++;
  parker.announce(IN_EVENT_LOOP);
  if (consumer.hasRecord) {
    // The message of a waker that was faster is taken by a later turn, or never.
    parker.cancel(IN_EVENT_LOOP);
    return;
  }
  takeMessage(control);
  parker.cancel(IN_EVENT_LOOP);
};

/** As the worker loop does it: block for a moment, then the event loop. */
const blockThenLoop: Rest = (parker, consumer, control) => {
  parker.announce(BLOCKED);
  if (consumer.hasRecord) {
    parker.cancel(BLOCKED);
    return;
  }
  if (parker.block(1) || consumer.hasRecord) return;
  parkInLoop(parker, consumer, control);
};

/** Host that parks, and workers that answer. */
function hostParking(workers: number, answers: number, recheck: boolean): Scenario {
  const answer = (worker: number) => (memory: SharedArrayBuffer): void => {
    const control = words(memory);
    const producer = SpscRing.attach(memory, ringAt(worker, 64)).takeProducer();
    const waker = new HostWaker(control, HOST_PARKED, () => {
      Atomics.add(control, POSTS, 1);
      Atomics.add(control, MESSAGES, 1);
      Atomics.notify(control, MESSAGES, 1);
    });
    for (const value of range(answers)) {
      send(producer, 10 * worker + value);
      waker.wake();
    }
  };
  return {
    bytes: CONTROL_BYTES + workers * ringBytes(64),
    reset(memory) {
      for (let worker = 0; worker < workers; worker++) {
        SpscRing.create(memory, ringAt(worker, 64), 64);
      }
    },
    threads: [
      (memory) => {
        const control = words(memory);
        const consumers = Array.from(
          { length: workers },
          (_, worker) => SpscRing.attach(memory, ringAt(worker, 64)).takeConsumer(),
        );
        const parker = new HostParker(control, HOST_PARKED);
        for (let left = workers * answers; left > 0;) {
          let found = 0;
          for (const consumer of consumers) while (receive(consumer, control)) found++;
          left -= found;
          if (found > 0 || left === 0) continue;
          control[PARKS]!++;
          parker.announce();
          if (recheck && consumers.some((consumer) => consumer.hasRecord)) {
            parker.cancel();
            continue;
          }
          takeMessage(control);
          parker.cancel();
        }
      },
      ...Array.from({ length: workers }, (_, worker) => answer(worker)),
    ],
    check(memory) {
      const control = words(memory);
      if (control[POSTS]! > control[PARKS]!) return "more messages than parks";
      const expected = range(workers).flatMap((worker) =>
        range(answers).map((value) => 10 * (worker - 1) + value)
      );
      const got = received(memory);
      const sorted = [...got].sort((a, b) => a - b);
      return sorted.join() === expected.join() ? undefined : `received ${got.join()}`;
    },
  };
}

function wakeWorker(control: Words): void {
  new Waker(control, PARKED, () => post(control)).wake();
}

function wakeHost(control: Words): void {
  new HostWaker(control, HOST_PARKED, () => post(control)).wake();
}

/**
 * Host that leaves its park announced between infrequent calls, and a worker that blocks between them. `noticesMessage`:
 * whether a message tells the host that its announcement is gone.
 */
function hostResting(calls: number, noticesMessage: boolean): Scenario {
  return {
    bytes: CONTROL_BYTES + 2 * ringBytes(64),
    reset(memory) {
      for (const ring of [0, 1]) SpscRing.create(memory, ringAt(ring, 64), 64);
    },
    threads: [
      (memory) => {
        const control = words(memory);
        const requests = SpscRing.attach(memory, ringAt(0, 64)).takeProducer();
        const responses = SpscRing.attach(memory, ringAt(1, 64)).takeConsumer();
        const parker = new HostParker(control, HOST_PARKED);
        let isParked = false;
        for (const value of range(calls)) {
          send(requests, value);
          wakeWorker(control);
          for (;;) {
            // Taken outside a poll, as time limits do: that leaves the announcement, or a message on its way.
            if (receive(responses, control)) break;
            if (!isParked) {
              parker.announce();
              isParked = true;
              if (responses.hasRecord) continue;
            }
            takeMessage(control);
            if (noticesMessage) isParked = false;
            if (!receive(responses, control)) continue;
            parker.announce(); // no call is outstanding: nothing to check again
            isParked = true;
            break;
          }
        }
      },
      (memory) => {
        const control = words(memory);
        const requests = SpscRing.attach(memory, ringAt(0, 64)).takeConsumer();
        const responses = SpscRing.attach(memory, ringAt(1, 64)).takeProducer();
        const parker = new Parker(control, PARKED);
        for (const value of range(calls)) {
          for (let index = requests.poll(); index < 0; index = requests.poll()) {
            parker.announce(BLOCKED);
            if (requests.hasRecord) parker.cancel(BLOCKED);
            else parker.block(Infinity);
          }
          requests.acquire(requests.poll());
          requests.release();
          send(responses, value);
          wakeHost(control);
        }
      },
    ],
    check: (memory) => expectReceived(memory, range(calls)),
  };
}

type WaitForSpace = (
  control: Words,
  flag: SpaceFlag,
  hasSpace: () => boolean,
) => void;

/**
 * A producer that finds the ring full, and a consumer that drains it and wakes the producer: a worker
 * with answers, or a host with calls. The records grow, so that the space of one released record is not
 * enough for the next.
 */
function wantsSpace(
  count: number,
  wait: WaitForSpace,
  wake: (control: Words) => void,
): Scenario {
  const bytesOf = (value: number) => value <= 4 ? 32 : 48;
  const trySend = (producer: RingProducer, value: number): boolean => {
    const index = producer.claim(bytesOf(value));
    if (index < 0) return false;
    producer.memory.i32[(index + 8) >> 2] = value;
    producer.memory.i32[(index + 12) >> 2] = ~value;
    producer.commit(index + bytesOf(value));
    return true;
  };
  return {
    bytes: CONTROL_BYTES + ringBytes(128),
    reset: (memory) => void SpscRing.create(memory, RING_0, 128),
    threads: [
      (memory) => {
        const control = words(memory);
        const producer = SpscRing.attach(memory, RING_0).takeProducer();
        const flag = new SpaceFlag(control, WANTS_SPACE);
        for (const value of range(count)) {
          while (!trySend(producer, value)) {
            wait(control, flag, () => producer.hasSpace(bytesOf(value)));
          }
        }
      },
      (memory) => {
        const control = words(memory);
        const consumer = SpscRing.attach(memory, RING_0).takeConsumer();
        const flag = new SpaceFlag(control, WANTS_SPACE);
        for (let left = count; left > 0; left--) {
          while (!receive(consumer, control)) spin();
          // This small ring hands space back at each release of a record.
          if (flag.take()) wake(control);
        }
      },
    ],
    check: (memory) => expectReceived(memory, range(count)),
  };
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  "ring of 4 records": transfer(64, 6),
  "ring of 4 records without rewinding": transfer(64, 6, 64),
  "ring at the int32 wrap": transfer(64, 6, 32, (2 ** 31 - 48) | 0),
  "claimed or revoked": revoking(4, (producer, index) => producer.revoke(index)),
  "a call kept for a worker that rests": keeping(true),
  "worker blocks": parking(3, block(Infinity)),
  "worker parks in its event loop": parking(3, parkInLoop),
  "worker blocks, then parks in its event loop": parking(2, blockThenLoop),
  "host parks, one worker": hostParking(1, 3, true),
  "host parks, two workers": hostParking(2, 2, true),
  "host stays parked between calls": hostResting(2, true),
  "worker waits for space": wantsSpace(5, (control, flag, hasSpace) => {
    const parker = new Parker(control, PARKED);
    parker.announce(BLOCKED);
    flag.raise();
    if (hasSpace()) parker.cancel(BLOCKED);
    else parker.block(Infinity);
  }, wakeWorker),
  "host waits for space": wantsSpace(5, (control, flag, hasSpace) => {
    const parker = new HostParker(control, HOST_PARKED);
    parker.announce();
    flag.raise();
    if (!hasSpace()) takeMessage(control);
    parker.cancel();
  }, wakeHost),
  ...endingsScenarios,
  "broken: woken and not counted": parking(2, block(Infinity), undefined, false),
  "broken: rest without telling a host that keeps calls": keeping(false),
  "broken: revoked without an exchange": revoking(2, (producer, index) => {
    const { i32 } = producer.memory;
    const slot = stateSlot(index);
    const state = Atomics.load(i32, slot);
    if ((state & STATE_MASK) !== QUEUED) return false;
    Atomics.store(i32, slot, revokedState(state));
    return true;
  }),
  "broken: block without re-check": parking(2, (parker) => {
    parker.announce(BLOCKED);
    parker.block(Infinity);
  }),
  "broken: re-check before announcing": parking(2, (parker, consumer) => {
    if (consumer.hasRecord) return;
    parker.announce(BLOCKED);
    parker.block(Infinity);
  }),
  "broken: event loop without re-check": parking(2, (parker, _consumer, control) => {
    control[PARKS]!++;
    parker.announce(IN_EVENT_LOOP);
    takeMessage(control);
  }),
  "broken: host parks without re-check": hostParking(1, 2, false),
  "broken: host takes a message and counts on its announcement": hostResting(2, false),
  "broken: wait for space without re-check": wantsSpace(5, (control, flag) => {
    const parker = new Parker(control, PARKED);
    parker.announce(BLOCKED);
    flag.raise();
    parker.block(Infinity);
  }, wakeWorker),
  // The consumer takes the flag for space that is not enough, and sees nobody parked yet.
  "broken: raise the flag before announcing": wantsSpace(5, (control, flag, hasSpace) => {
    const parker = new Parker(control, PARKED);
    flag.raise();
    if (hasSpace()) return;
    parker.announce(BLOCKED);
    if (hasSpace()) parker.cancel(BLOCKED);
    else parker.block(Infinity);
  }, wakeWorker),
  "broken: notify without taking the word": parking(2, block(Infinity), (waker) => {
    // Loads the state and notifies, as if the exchange did not matter.
    if (waker.state === BLOCKED) Atomics.notify(new Int32Array(new SharedArrayBuffer(8)), 0, 1);
  }),
};
