import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../../../src/errors.ts";
import { EMPTY } from "../../../src/ring/consumer.ts";
import { NO_SPACE } from "../../../src/ring/producer.ts";
import {
  claimedState,
  QUEUED,
  queuedState,
  revokedState,
  stateSlot,
} from "../../../src/ring/record-layout.ts";
import { HEAD_POSITION, ringBytes, TAIL_POSITION } from "../../../src/ring/ring-layout.ts";
import { SpscRing } from "../../../src/ring/spsc-ring.ts";
import { createTestRing, pull, push } from "../../support/rings.ts";

describe("roles", () => {
  test("each role is given out once, also to a second attachment", () => {
    const buffer = new SharedArrayBuffer(ringBytes(64));
    const ring = SpscRing.create(buffer, 0, 64);
    ring.takeProducer();
    expect(() => ring.takeProducer()).toThrow(/producer role has already been taken/);
    const attached = SpscRing.attach(buffer, 0);
    expect(() => attached.takeProducer()).toThrow(/producer role/);
    attached.takeConsumer();
    expect(() => ring.takeConsumer()).toThrow(/consumer role/);
  });

  test.each([0, 1, 32, 63, 65, 96, 2 ** 31, 64.5, NaN])("capacity %s is refused", (capacity) => {
    expect(() => SpscRing.create(new SharedArrayBuffer(1024), 0, capacity)).toThrow(
      /power of two from 64 .* got/,
    );
  });

  test("attaching to a buffer without a ring is refused", () => {
    expect(() => SpscRing.attach(new SharedArrayBuffer(1024), 0)).toThrow(ProtocolError);
  });
});

describe("claim, commit, abort", () => {
  test("records arrive in order with their bytes", () => {
    const { producer, consumer } = createTestRing(256);
    for (let value = 1; value <= 5; value++) expect(push(producer, value, value)).toBe(true);
    for (let value = 1; value <= 5; value++) {
      const words = pull(consumer)!;
      expect(words.slice(0, value)).toEqual(new Array(value).fill(value));
    }
    expect(pull(consumer)).toBeUndefined();
  });

  test("an aborted claim leaves the ring unchanged", () => {
    const { producer, consumer, header } = createTestRing(128);
    push(producer, 1);
    const before = [...header];
    const index = producer.claim(32);
    expect(index).toBeGreaterThanOrEqual(0);
    producer.memory.i32[(index + 8) >> 2] = 99;
    producer.abort();
    expect([...header]).toEqual(before);
    expect(pull(consumer)).toEqual([1, 1]);
    expect(pull(consumer)).toBeUndefined();
    push(producer, 2);
    expect(pull(consumer)).toEqual([2, 2]);
  });

  test("an aborted claim after a padding record leaves the ring unchanged", () => {
    const { producer, consumer } = createTestRing(64);
    for (const value of [1, 2, 3]) push(producer, value);
    for (const value of [1, 2, 3]) expect(pull(consumer)).toEqual([value, value]);
    expect(producer.claim(24)).toBe(0);
    producer.abort();
    expect(consumer.poll()).toBe(EMPTY);
    push(producer, 4);
    expect(pull(consumer)).toEqual([4, 4]);
  });

  test("the next claim drops a claim left open by an exception", () => {
    const { producer, consumer } = createTestRing(128);
    producer.claim(64);
    producer.memory.i32[2] = 77;
    expect(push(producer, 1)).toBe(true);
    expect(pull(consumer)).toEqual([1, 1]);
    expect(pull(consumer)).toBeUndefined();
  });

  test("a full ring returns NO_SPACE until the consumer releases", () => {
    const { producer, consumer } = createTestRing(64);
    for (const value of [1, 2, 3, 4]) expect(push(producer, value)).toBe(true);
    expect(producer.claim(16)).toBe(NO_SPACE);
    expect(producer.hasSpace(16)).toBe(false);
    pull(consumer);
    consumer.publish();
    expect(producer.hasSpace(16)).toBe(true);
    expect(push(producer, 5)).toBe(true);
    expect([2, 3, 4, 5].map(() => pull(consumer)![0])).toEqual([2, 3, 4, 5]);
  });

  test("the limit never exceeds the end of the ring or unread records", () => {
    const { producer, consumer } = createTestRing(128, 0, 128);
    expect(producer.claim(16)).toBe(0);
    expect(producer.limit).toBe(128);
    producer.commit(64);
    expect(producer.claim(16)).toBe(64);
    expect(producer.limit).toBe(128);
    producer.commit(112);
    consumer.poll();
    consumer.release();
    consumer.publish();
    expect(producer.claim(24)).toBe(0); // 16 bytes at the end are too few: padding
    expect(producer.limit).toBe(64);
    producer.abort();
    expect(producer.claim(16)).toBe(112);
    expect(producer.limit).toBe(128);
  });
});

describe("wrap", () => {
  const capacity = 128;
  for (let start = 0; start < capacity; start += 8) {
    test(`a record arrives at every distance from the end (start ${start})`, () => {
      for (const words of [0, 2, 4, 6]) {
        const { producer, consumer } = createTestRing(capacity, start, capacity);
        for (let value = 0; value < 40; value++) {
          expect(push(producer, value, words)).toBe(true);
          expect(pull(consumer)).toEqual(new Array(words).fill(value));
        }
      }
    });
  }

  test("positions wrap as int32", () => {
    for (const distance of [0, 8, 64, 120, 1000]) {
      const position = (2 ** 31 - distance) | 0;
      const { producer, consumer, header } = createTestRing(256, position & ~7);
      let sent = 0;
      let received = 0;
      while (received < 200) {
        while (push(producer, sent, 1 + (sent % 5))) sent++;
        for (let words = pull(consumer); words !== undefined; words = pull(consumer)) {
          expect(words[0]).toBe(received++);
        }
      }
      expect(header[TAIL_POSITION]!).toBeLessThan(0);
    }
  });

  test("positions wrap from −1 to 0", () => {
    const { producer, consumer, header } = createTestRing(64, -64);
    for (let value = 0; value < 100; value++) {
      push(producer, value);
      expect(pull(consumer)).toEqual([value, value]);
    }
    expect(header[TAIL_POSITION]!).toBeGreaterThan(0);
  });

  test("state words differ for all sequence numbers, including the last", () => {
    for (const sequence of [0, 1, 2 ** 29, 0x3fff_fffe, 0x3fff_ffff]) {
      const queued = queuedState(sequence);
      expect(queued & 3).toBe(QUEUED);
      expect(queued >>> 2).toBe(sequence);
      expect([queued + 1, queued + 2]).toEqual([claimedState(queued), revokedState(queued)]);
      expect(Object.is(queued, queued | 0)).toBe(true);
    }
    const { producer } = createTestRing(64);
    push(producer, 1);
    expect(producer.memory.i32[stateSlot(0)]).toBe(queuedState(0)); // as the producer writes them
  });
});

describe("rewind", () => {
  test("light traffic stays within the first bytes of a large ring", () => {
    const { producer, consumer } = createTestRing(65536, 0, 1024);
    let highest = 0;
    for (let value = 0; value < 20_000; value++) {
      const index = producer.claim(32);
      highest = Math.max(highest, index);
      producer.memory.i32[(index + 8) >> 2] = value;
      producer.commit(index + 32);
      const read = consumer.poll();
      expect(consumer.memory.i32[(read + 8) >> 2]).toBe(value);
      consumer.release();
    }
    expect(highest).toBeLessThan(4096 + 1024 + 4096);
  });

  test("bursts get the whole ring, and a rewind without space for its padding is delayed", () => {
    const { producer, consumer } = createTestRing(65536, 0, 256);
    const light = (): number => {
      push(producer, 0);
      pull(consumer);
      consumer.publish();
      return producer.tailPosition & 65535;
    };
    /** So many records while nobody reads. Whether all found room at once. */
    const burst = (records: number): boolean => {
      let sent = 0;
      let isWhole = true;
      while (sent < records) {
        while (sent < records && push(producer, sent, 100)) sent++;
        isWhole &&= sent === records;
        while (pull(consumer) !== undefined);
        consumer.publish();
      }
      return isWhole;
    };
    // A small one leaves the producer near the beginning; a large one found only that much room there.
    const bursts = Array.from({ length: 200 }, () => burst(20) && burst(120));
    expect(bursts.slice(0, 10)).toContain(false); // or this tests nothing
    expect(bursts.slice(20).filter((isWhole) => !isWhole).length).toBeLessThan(10);
    // And light traffic keeps to the ring's beginning again in the end.
    const highest = (): number => Math.max(...Array.from({ length: 4000 }, light));
    expect(highest()).toBeGreaterThan(8192);
    for (let each = 0; each < 300_000; each++) light();
    expect(highest()).toBeLessThan(1024);
  });

  test("record sizes that divide the ring also rewind after bursts have used all of it", () => {
    const { producer, consumer } = createTestRing(65536, 0, 16_384);
    const send = (bytes: number): boolean => {
      const index = producer.claim(bytes);
      if (index === NO_SPACE) return false;
      producer.commit(index + bytes);
      return true;
    };
    const drain = (): void => {
      while (consumer.poll() !== EMPTY) consumer.release();
      consumer.publish();
    };
    for (let each = 0; each < 20; each++) {
      for (let n = 0; n < 10; n++) send(2048);
      drain();
      for (let n = 0; n < 30; n++) if (!send(2048)) drain();
      drain();
    }
    const highest = (): number => {
      let most = 0;
      for (let each = 0; each < 4096; each++) {
        most = Math.max(most, producer.tailPosition & 65535);
        send(32);
        drain();
      }
      return most;
    };
    expect(highest()).toBe(65536 - 32);
    for (let each = 0; each < 200; each++) highest();
    expect(highest()).toBeLessThan(20_000);
  });

  test("never overwrites unread records", () => {
    const { producer, consumer } = createTestRing(4096, 0, 256);
    let sent = 0;
    let received = 0;
    for (let round = 0; round < 5000; round++) {
      const burst = (round * 7) % 23;
      for (let each = 0; each < burst && push(producer, sent, 1 + (sent % 9)); each++) sent++;
      const reads = (round * 5) % 24;
      for (let each = 0; each < reads; each++) {
        const words = pull(consumer);
        if (words === undefined) break;
        expect(words[0]).toBe(received++);
      }
    }
    expect(received).toBeGreaterThan(1000);
  });
});

describe("against a model", () => {
  test("any sequence of operations behaves like a queue", () => {
    const operation = fc.oneof(
      fc.record({ kind: fc.constant("push" as const), words: fc.nat(12) }),
      fc.record({ kind: fc.constant("abort" as const), words: fc.nat(12) }),
      fc.record({ kind: fc.constant("pull" as const) }),
      fc.record({ kind: fc.constant("publish" as const) }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(64, 128, 256),
        fc.integer({ min: -(2 ** 28), max: 2 ** 28 - 1 }),
        fc.array(operation, { maxLength: 120 }),
        (capacity, start, operations) => {
          const { producer, consumer } = createTestRing(capacity, start * 8);
          const queue: number[][] = [];
          let value = 0;
          for (const step of operations) {
            if (step.kind === "push") {
              value++;
              const padded = step.words + (step.words % 2);
              if (push(producer, value, step.words)) {
                queue.push(
                  new Array(step.words).fill(value).concat(new Array(padded - step.words)),
                );
              }
            } else if (step.kind === "abort") {
              if (producer.claim(8 + 4 * step.words) !== NO_SPACE) producer.abort();
            } else if (step.kind === "pull") {
              const expected = queue.shift();
              const words = pull(consumer);
              expect(words?.length).toBe(expected?.length);
              for (const [index, word] of (expected ?? []).entries()) {
                if (word !== undefined) expect(words![index]).toBe(word);
              }
            } else consumer.publish();
          }
          while (queue.length > 0) expect(pull(consumer)?.[0]).toBe(queue.shift()![0]);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("damage", () => {
  const damaged = (damage: (ring: ReturnType<typeof createTestRing>) => void) => {
    const ring = createTestRing(128);
    push(ring.producer, 1);
    push(ring.producer, 2);
    damage(ring);
    return () => {
      for (let read = 0; read < 4; read++) pull(ring.consumer);
    };
  };

  test.each([0, 4, 7, 12, 48, 136, 2 ** 30, -8, -120, -136, -(2 ** 31)])(
    "a record length of %s is a protocol error",
    (length) => {
      // At once, not after it was believed.
      expect(damaged(({ records }) => records[0] = length)).toThrow(
        new ProtocolError(
          `Record length ${length} at index 0 is impossible (32 bytes published).`,
        ),
      );
    },
  );

  test.each([4, 1, -8, 136, 1000, -(2 ** 31)])("a tail of %s is a protocol error", (tail) => {
    expect(damaged(({ header }) => header[TAIL_POSITION] = tail)).toThrow(ProtocolError);
  });

  test.each([64, 1000, -200, 2 ** 31 - 8])("a head of %s is a protocol error", (head) => {
    const { producer, header } = createTestRing(64);
    for (const value of [1, 2, 3, 4]) push(producer, value);
    header[HEAD_POSITION] = head;
    if (head === 64) expect(producer.claim(16)).toBe(0); // a consumer that has read it all
    else expect(() => producer.claim(16)).toThrow(ProtocolError);
  });

  test.each([0, 2, 5, -1, 4])("a state word of %s is a protocol error", (state) => {
    const { consumer, producer, records } = createTestRing(64);
    push(producer, 1);
    records[stateSlot(0)] = state;
    const index = consumer.poll();
    expect(() => consumer.verify(index)).toThrow(ProtocolError);
    expect(() => consumer.acquire(index)).toThrow(ProtocolError);
  });

  test("a revoked record is skipped, not an error", () => {
    const { consumer, producer, records } = createTestRing(64);
    push(producer, 1);
    push(producer, 2);
    records[stateSlot(0)] = revokedState(records[stateSlot(0)]!);
    const first = consumer.poll();
    expect(consumer.acquire(first)).toBe(false);
    consumer.release();
    expect(consumer.acquire(consumer.poll())).toBe(true);
  });
});

describe("revoking and counting", () => {
  test("pushed records are pulled or revoked once and counted until then (model)", () => {
    const step = fc.constantFrom("push", "push", "pull", "take", "count");
    fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { producer, consumer } = createTestRing(256);
      const model: { value: number; isTaken: boolean }[] = [];
      let next = 1;
      for (const each of steps) {
        if (each === "push") {
          if (push(producer, next)) model.push({ value: next++, isTaken: false });
        } else if (each === "count") expect(consumer.countReady()).toBe(model.length);
        else if (each === "take") {
          for (const index of producer.unreleased()) {
            const value = producer.memory.i32[(index + 8) >> 2]!;
            const entry = model.find((other) => other.value === value);
            const isQueued = entry !== undefined && !entry.isTaken;
            if (value % 2 === 0) continue;
            expect(producer.revoke(index)).toBe(isQueued);
            if (isQueued) entry.isTaken = true;
          }
        } else {
          const index = consumer.poll();
          const first = model.shift();
          expect(index === EMPTY).toBe(first === undefined);
          if (first === undefined) continue;
          expect(consumer.acquire(index)).toBe(!first.isTaken);
          if (!first.isTaken) {
            expect(consumer.memory.i32[(index + 8) >> 2]).toBe(first.value);
          }
          consumer.release();
        }
      }
    }));
  });

  test("hasTaken is correct for any position, cursor and overwritten record", () => {
    const step = fc.constantFrom("push", "push", "pull", "revoke", "ask");
    const starts = fc.constantFrom(0, 2 ** 31 - 64, -64, 2 ** 30);
    fc.assert(fc.property(fc.array(step, { maxLength: 300 }), starts, (steps, start) => {
      const { producer, consumer } = createTestRing(256, start | 0);
      interface Entry {
        readonly position: number;
        /** Claimed by the consumer, revoked by the producer, or neither. */
        state: "queued" | "claimed" | "revoked";
      }
      const all: Entry[] = [];
      const unread: Entry[] = [];
      for (const each of steps) {
        if (each === "push") {
          if (!push(producer, all.length, 1 + all.length % 5)) continue;
          const entry: Entry = { position: producer.position, state: "queued" };
          all.push(entry);
          unread.push(entry);
        } else if (each === "pull") {
          const index = consumer.poll();
          const first = unread.shift();
          if (first === undefined) continue;
          expect(consumer.acquire(index)).toBe(first.state === "queued");
          if (first.state === "queued") first.state = "claimed";
          consumer.release();
        } else {
          // Old ones above all: their memory is another record's by now.
          const entry = all[each === "ask" ? all.length >> 1 : all.length - 1];
          if (entry === undefined) continue;
          if (each === "ask") {
            expect(producer.hasTaken(entry.position)).toBe(entry.state !== "queued");
          } else {
            expect(producer.revokeAt(entry.position)).toBe(entry.state === "queued");
            if (entry.state === "queued") entry.state = "revoked";
          }
        }
      }
    }));
  });

  test("hasTaken stays true while the cursors wrap twice", () => {
    // Rewinding skips nearly the whole ring every 64 bytes.
    const { producer, consumer, header } = createTestRing(1 << 24, 0, 64);
    const take = () => {
      expect(consumer.acquire(consumer.poll())).toBe(true);
      consumer.release();
    };
    push(producer, 0);
    const { position } = producer;
    take();
    let rounds = 0;
    for (let last = 0; rounds < 2;) {
      push(producer, 1);
      expect(producer.hasTaken(producer.position)).toBe(false);
      expect(producer.hasTaken(position)).toBe(true);
      expect(producer.revokeAt(position)).toBe(false);
      take();
      const tail = header[TAIL_POSITION]!;
      if (tail < last) rounds++;
      last = tail;
    }
  });

  test("counting terminates for any memory content", () => {
    for (const tail of [4, 12, -8, 1 << 20, -(2 ** 31)]) {
      const { producer, consumer, header } = createTestRing(256);
      push(producer, 1);
      Atomics.store(header, TAIL_POSITION, tail);
      expect(consumer.countReady()).toBeLessThan(100);
    }
    const { producer, consumer, records } = createTestRing(256);
    push(producer, 1);
    for (const length of [0, 4, -4, 12, 1 << 30, -(2 ** 31)]) {
      records[0] = length;
      expect(consumer.countReady()).toBeLessThan(100);
      if (length !== -(2 ** 31)) continue;
      expect(() => producer.unreleased()).toThrow(ProtocolError);
    }
  });
});
