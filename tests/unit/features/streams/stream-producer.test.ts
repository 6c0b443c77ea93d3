/* oxlint-disable unicorn/no-thenable -- iterators may return any thenable */
/** The producer of a stream with iterators that behave badly. */
import { describe, expect, test } from "vitest";
import { isThenable } from "../../../../src/protocol/is-thenable.ts";
import {
  BATCH_ITEMS,
  MAX_UNREAD_BYTES,
  SLICE_MS,
} from "../../../../src/features/calls/streams/limits.ts";
import {
  type AnyIterator,
  iteratorOf,
  NEEDS_OWN_BATCH,
} from "../../../../src/features/calls/streams/stream-producer.ts";
import { isStreamable } from "../../../../src/protocol/is-streamable.ts";
import { settlePromises, TestProducer, TestWriter } from "../../../support/streams.ts";

function* numbers(to: number, log: string[] = []): Generator<unknown, string> {
  try {
    for (let n = 0; n < to; n++) yield n;
    return "done";
  } finally {
    log.push("ended");
  }
}

const upTo = (to: number): number[] => Array.from({ length: to }, (_, n) => n);

/** An iterator that gives what `next` does, and counts its `return()`. */
function iterator(next: () => unknown, onReturn: () => unknown = () => ({})): AnyIterator & {
  nexts: number;
  returns: number;
} {
  return {
    nexts: 0,
    returns: 0,
    next() {
      this.nexts++;
      return next();
    },
    return() {
      this.returns++;
      return onReturn();
    },
  };
}

describe("sending", () => {
  test("batches are bounded, and the end follows the last", () => {
    const run = new TestProducer(numbers(1300));
    run.producer.start();
    expect(run.writer.sent.map(({ items }) => items.length)).toEqual([
      BATCH_ITEMS,
      BATCH_ITEMS,
      1300 - 2 * BATCH_ITEMS,
    ]);
    expect(run.writer.sentItems).toEqual(upTo(1300));
    expect(run.ends).toEqual([{ isThrown: false, value: "done" }]);
  });

  test("a slice that is over sends its batch and goes on in a macrotask", () => {
    const run = new TestProducer(iterator(() => {
      run.nowMs += SLICE_MS / 4;
      return { done: false, value: 1 };
    }));
    run.producer.start();
    const first = run.writer.sentItems.length;
    expect(first).toBeGreaterThan(0);
    expect(run.macrotasks).toHaveLength(1);
    run.macrotasks.shift()!();
    expect(run.writer.sentItems.length).toBeGreaterThan(first);
  });

  test("the batch is sent while the iterator is awaited", async () => {
    const pending = Promise.withResolvers<IteratorResult<number>>();
    let n = 0;
    const run = new TestProducer(iterator(() => n++ < 2 ? { value: n } : pending.promise));
    run.producer.start();
    expect(run.writer.sent).toEqual([]);
    run.runMacrotasks();
    expect(run.writer.sentItems).toEqual([1, 2]);
    pending.resolve({ done: true, value: 9 });
    await settlePromises();
    expect(run.ends).toEqual([{ isThrown: false, value: 9 }]);
  });

  test("an item may need a batch of its own", () => {
    const writer = new TestWriter();
    const run = new TestProducer(numbers(3), 10, { writer });
    const { add } = TestWriter.prototype;
    writer.add = (item) =>
      item === 1 && writer.items.length > 0 ? NEEDS_OWN_BATCH : add.call(writer, item);
    run.producer.start();
    expect(writer.sent.map(({ items }) => items)).toEqual([[0], [1, 2]]);
  });
});

describe("credit", () => {
  test.each([1, 2, 3, 8])("of %i items is never exceeded", (highWaterMark) => {
    const run = new TestProducer(numbers(100), highWaterMark);
    run.producer.start();
    let read = 0;
    for (let batches = 0; run.ends.length === 0; batches++) {
      expect(run.writer.sentItems.length - read).toBe(highWaterMark);
      expect(run.isPaused).toBe(true);
      expect(run.macrotasks).toEqual([]);
      read += run.writer.sent[batches]!.items.length;
      run.producer.acknowledge(1);
      expect(run.isPaused).toBe(false);
      run.runMacrotasks();
    }
    expect(run.writer.sentItems).toEqual(upTo(100));
  });

  test("of bytes is exceeded by at most one item", () => {
    const writer = new TestWriter();
    writer.sizeOf = () => MAX_UNREAD_BYTES - 1;
    const run = new TestProducer(numbers(10), 100, { writer });
    run.producer.start();
    expect(writer.sentItems).toHaveLength(2);
    run.producer.acknowledge(1);
    run.runMacrotasks();
    expect(writer.sentItems).toHaveLength(3);
  });

  test("nothing is asked for while the writer is full", () => {
    const source = iterator(() => ({ value: 1 }));
    const run = new TestProducer(source, 5);
    run.writer.isFull = true;
    run.producer.start();
    run.producer.acknowledge(0);
    run.runMacrotasks();
    expect(source.nexts).toBe(0);
    run.writer.isFull = false;
    run.producer.resume();
    run.runMacrotasks();
    expect(source.nexts).toBe(5);
  });

  test("for batches that were never sent, and after the end, is ignored", () => {
    const run = new TestProducer(numbers(3), 2);
    run.producer.start();
    run.producer.acknowledge(5);
    run.runMacrotasks();
    expect(run.ends).toHaveLength(1);
    run.producer.acknowledge(1);
    run.producer.resume();
    run.producer.cancel();
    run.runMacrotasks();
    expect([run.ends.length, run.macrotasks.length]).toEqual([1, 0]);
  });
});

describe("iterators that fail", () => {
  test("next() that throws, or rejects: the items before it, then the error, and no return()", async () => {
    for (const isAsync of [false, true]) {
      let n = 0;
      const source = iterator(() => {
        if (n < 3) return { done: false, value: n++ };
        if (isAsync) return Promise.reject(new RangeError("bad"));
        throw new RangeError("bad");
      });
      const run = new TestProducer(source);
      run.producer.start();
      await settlePromises();
      expect(run.writer.sentItems).toEqual([0, 1, 2]);
      expect(run.ends).toEqual([{ isThrown: true, value: new RangeError("bad") }]);
      expect(source.returns).toBe(0);
    }
  });

  test.each([
    ["no object", () => undefined],
    ["null", () => null],
    ["a promise of no object", () => Promise.resolve(5)],
    ["a getter that throws", () => ({
      get done(): boolean {
        throw new RangeError("getter");
      },
    })],
    ["a `then` that throws", () => ({
      get then(): () => void {
        throw new RangeError("getter");
      },
    })],
  ])("next() that returns %s", async (_, next) => {
    const run = new TestProducer(iterator(next), 3);
    run.producer.start();
    await settlePromises();
    run.runMacrotasks();
    if (run.ends.length === 0) {
      // A number has no `done`: its items are undefined, as in `for await` of one thread they would not be.
      expect(run.writer.sentItems).toEqual([undefined]);
      run.producer.cancel();
      await settlePromises();
      expect(run.ends).toHaveLength(1);
    } else expect(run.ends).toMatchObject([{ isThrown: true }]);
  });

  test("an item that cannot be encoded: return() is called once, awaited, and its error loses", async () => {
    for (
      const onReturn of [
        () => ({}),
        () => Promise.resolve({}),
        () => Promise.reject(new Error("return")),
        () => {
          throw new Error("return");
        },
      ]
    ) {
      let n = 0;
      const source = iterator(() => ({ value: n++ < 2 ? n : NaN }), onReturn);
      const run = new TestProducer(source);
      run.producer.start();
      await settlePromises();
      expect(run.writer.sentItems).toEqual([1, 2]);
      expect(run.ends).toEqual([{ isThrown: true, value: new TypeError("not cloneable") }]);
      expect(source.returns).toBe(1);
    }
  });

  test("a promise as an item is awaited; if it rejects, the generator is ended", async () => {
    const log: string[] = [];
    function* source(): Generator<unknown> {
      try {
        yield 1;
        yield Promise.resolve(2);
        yield Promise.reject(new RangeError("item"));
      } finally {
        log.push("ended");
      }
    }
    const run = new TestProducer(source());
    run.producer.start();
    for (let turn = 0; turn < 3; turn++) {
      await settlePromises();
      run.runMacrotasks();
    }
    expect(run.writer.sentItems).toEqual([1, 2]);
    expect(run.ends).toEqual([{ isThrown: true, value: new RangeError("item") }]);
    expect(log).toEqual(["ended"]);
  });

  test("thenables that settle several times count once", async () => {
    let n = 0;
    const run = new TestProducer(iterator(() => ({
      then(resolve: (result: unknown) => void, reject: (reason: unknown) => void) {
        resolve(n < 3 ? { value: n++ } : { done: true });
        resolve({ value: "again" });
        reject(new Error("again"));
      },
    })));
    run.producer.start();
    for (let turn = 0; turn < 10; turn++) await settlePromises();
    expect(run.writer.sentItems).toEqual([0, 1, 2]);
    expect(run.ends).toHaveLength(1);
  });
});

describe("cancel", () => {
  test("before any item, between items, and twice: return() once", () => {
    for (const before of [0, 2]) {
      const source = iterator(() => ({ value: 1 }));
      const run = new TestProducer(source, Math.max(before, 1));
      if (before > 0) run.producer.start();
      run.producer.cancel();
      run.producer.cancel();
      run.runMacrotasks();
      run.producer.acknowledge(9);
      run.runMacrotasks();
      expect([source.returns, source.nexts]).toEqual([1, before]);
      expect(run.ends).toEqual([{ isThrown: false, value: undefined }]);
      expect(run.isPaused).toBe(false);
    }
  });

  test("of an iterator without return()", () => {
    const run = new TestProducer({ next: () => ({ value: 1 }) }, 2);
    run.producer.start();
    run.producer.cancel();
    expect(run.ends).toEqual([{ isThrown: false, value: undefined }]);
  });

  test("ends with what return() throws or rejects with", async () => {
    for (
      const onReturn of [
        () => Promise.reject(new RangeError("return")),
        () => {
          throw new RangeError("return");
        },
      ]
    ) {
      const run = new TestProducer(iterator(() => ({ value: 1 }), onReturn), 2);
      run.producer.start();
      run.producer.cancel();
      await settlePromises();
      expect(run.ends).toEqual([
        { isThrown: true, value: new RangeError("return"), isOfReturn: true },
      ]);
    }
  });

  test("while next() is awaited: return() at once, and its items are dropped", async () => {
    const pending = Promise.withResolvers<unknown>();
    const source = iterator(() => pending.promise, () => Promise.resolve({}));
    const run = new TestProducer(source);
    run.producer.start();
    run.producer.cancel();
    expect(source.returns).toBe(1);
    pending.resolve({ value: 1 });
    await settlePromises();
    run.runMacrotasks();
    expect(run.writer.sent).toEqual([]);
    expect(run.ends).toHaveLength(1);
    expect(source.nexts).toBe(1);
  });

  test("from inside next(), whatever that returns", async () => {
    const results: (() => unknown)[] = [
      () => ({ value: 1 }),
      () => ({ done: true, value: 1 }),
      () => Promise.resolve({ value: 1 }),
      () => new Promise(() => {}),
      () => ({ value: new Promise(() => {}) }),
    ];
    for (const result of results) {
      const source = iterator(() => {
        run.producer.cancel();
        return result();
      });
      const run = new TestProducer(source);
      run.producer.start();
      await settlePromises();
      run.runMacrotasks();
      expect(run.writer.sent).toEqual([]);
      expect([source.nexts, run.ends.length]).toEqual([1, 1]);
    }
  });

  test("from inside next() that throws", () => {
    const source = iterator(() => {
      run.producer.cancel();
      throw new RangeError("bad");
    });
    const run = new TestProducer(source);
    run.producer.start();
    expect(run.ends).toEqual([{ isThrown: true, value: new RangeError("bad") }]);
  });

  test("from inside return()", () => {
    const source = iterator(() => ({ value: NaN }), () => run.producer.cancel());
    const run = new TestProducer(source);
    run.producer.start();
    expect(source.returns).toBe(1);
    expect(run.ends).toHaveLength(1);
  });

  test("while an item is encoded: it is dropped", () => {
    const source = iterator(() => ({ value: 1 }));
    const run = new TestProducer(source);
    run.writer.onAdd = () => run.producer.cancel();
    run.producer.start();
    expect([source.nexts, source.returns]).toEqual([1, 1]);
    expect(run.writer.sent).toEqual([]);
    expect(run.ends).toHaveLength(1);
  });
});

describe("sending that fails", () => {
  const refuse = (): never => {
    throw new TypeError("refused");
  };

  test("ends the stream with the error, and the iterator by return()", () => {
    const source = iterator(() => ({ value: 1 }));
    const run = new TestProducer(source, 3);
    run.writer.onSend = refuse;
    run.producer.start();
    expect(source.returns).toBe(1);
    expect(run.ends).toEqual([{ isThrown: true, value: new TypeError("refused") }]);
    run.runMacrotasks();
    expect(run.isPaused).toBe(false);
  });

  test("of the last batch takes the place of the end", () => {
    const run = new TestProducer(numbers(3));
    run.writer.onSend = refuse;
    run.producer.start();
    expect(run.ends).toEqual([{ isThrown: true, value: new TypeError("refused") }]);
  });

  test("while the iterator is awaited", async () => {
    const pending = Promise.withResolvers<unknown>();
    let n = 0;
    const source = iterator(() => n++ === 0 ? { value: 1 } : pending.promise);
    const run = new TestProducer(source);
    run.writer.onSend = refuse;
    run.producer.start();
    run.runMacrotasks();
    expect([source.returns, run.ends.length]).toEqual([1, 1]);
    pending.resolve({ value: 2 });
    await settlePromises();
    expect([run.writer.items, run.ends.length]).toEqual([[], 1]);
  });

  // As Replies does when a port refuses an object of the batch.
  test.each([1, 2, 100])("by a cancel from inside send(), with credit for %i items", (credit) => {
    const source = iterator(() => ({ value: 1 }));
    const run = new TestProducer(source, credit);
    run.writer.sizeOf = () => 20_000; // each item is sent at once
    run.writer.onSend = () => run.producer.cancel();
    run.producer.start();
    run.runMacrotasks();
    expect([source.nexts, source.returns]).toEqual([1, 1]);
    expect(run.ends).toHaveLength(1);
    expect(run.isPaused).toBe(false);
  });

  test("by a cancel from inside send() of the last batch, and of one before an item of its own", () => {
    const last = new TestProducer(numbers(3));
    last.writer.onSend = () => last.producer.cancel();
    last.producer.start();
    expect(last.ends).toHaveLength(1);
    const log: string[] = [];
    const own = new TestProducer(numbers(3, log));
    const { add } = TestWriter.prototype;
    own.writer.add = (item) =>
      item === 1 && own.writer.items.length > 0 ? NEEDS_OWN_BATCH : add.call(own.writer, item);
    own.writer.onSend = () => own.producer.cancel();
    own.producer.start();
    expect(own.ends).toHaveLength(1);
    expect(log).toEqual(["ended"]);
  });
});

describe("recognition", () => {
  test("of iterators and thenables", () => {
    const generator = numbers(1);
    expect(iteratorOf(generator)).toBe(generator);
    expect(iteratorOf([1])).toBe(undefined);
    expect(iteratorOf({ next: () => 1 })).toBe(undefined);
    expect(iteratorOf(null)).toBe(undefined);
    expect([[1], generator, "text", undefined].map(isStreamable)).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect([Promise.resolve(), { then: 1 }, { then() {} }, null].map(isThenable)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
