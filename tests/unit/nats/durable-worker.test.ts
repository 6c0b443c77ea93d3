/** Durable calls that fail, are lost and delivered again, in virtual time, with a queue in memory. */
import { describe, expect, test } from "vitest";
import { DurableWorker } from "../../../src/nats/durable/durable-worker.ts";
import type { Delivery } from "../../../src/nats/durable/delivery.ts";
import { encodeCall } from "../../../src/nats/durable/durable-call.ts";
import type { DurableStore } from "../../../src/nats/durable/store.ts";
import type { LocalCalls } from "../../../src/nats/machine/local-calls.ts";
import { FAILURE, readHeader, RESULT } from "../../../src/nats/wire/frames.ts";
import { MessageCodec } from "../../../src/nats/wire/message-codec.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { VirtualClock } from "../../support/virtual-nats.ts";

const ACK_WAIT_MS = 30_000;
const codec = new MessageCodec(currentRuntime, 2 ** 20);

interface Stored {
  readonly seq: number;
  readonly data: Uint8Array;
  readonly id: string | undefined;
  readonly storedMs: number;
  deliveries: number;
  /** When it is delivered next: Infinity while a machine has it and renews. */
  dueMs: number;
  isGone: boolean;
}

/** A work queue: what is not acknowledged within ACK_WAIT_MS is delivered again. */
class Queue {
  readonly clock = new VirtualClock();
  readonly stored: Stored[] = [];
  readonly results = new Map<string, Uint8Array>();
  readonly dead: Uint8Array[] = [];
  /** Times of deliveries. */
  readonly deliveredMs: number[] = [];
  renewals = 0;
  /** Renewals do not arrive. */
  isSilent = false;
  largestPull = 0;
  /** Its clock less that of machines. */
  serverAheadMs = 0;
  readonly #ids = new Set<string>();
  readonly #asking = new Set<(delivery: Delivery) => void>();
  #wake: (() => void) | undefined;

  /** Requests of the store fail with this. */
  failure: Error | undefined;
  /** Calls up to this number are acknowledged and stored. */
  doneUpTo: number | undefined;
  readonly dropped: number[] = [];
  /** Results of tasks are refused with this. */
  refusal: Error | undefined;
  /** Pulls fail with this. */
  pullFailure: Error | undefined;
  /** How often deliveries from before were given up. */
  epochs = 0;
  /** Changes when the queue is created anew. */
  created = 1;
  /** Of the consumer. */
  ackWaitMs = ACK_WAIT_MS;

  async #answer<Result>(result: () => Result): Promise<Result> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    return result();
  }

  readonly store = {
    checkSize: () => undefined,
    ensure: () =>
      this.#answer(() => {
        const { ackWaitMs, created, doneUpTo } = this;
        return { ackWaitMs, created, doneUpTo };
      }),
    dropCalls: (upTo: number) => {
      this.dropped.push(upTo);
      this.doneUpTo = undefined;
      return Promise.resolve();
    },
    readResult: (id: string) => this.#answer(() => this.results.get(id)),
    record: (id: string, message: Uint8Array) =>
      this.#answer(() => {
        if (this.refusal !== undefined && readHeader(message)!.kind === RESULT) throw this.refusal;
        if (!this.results.has(id)) this.results.set(id, message);
      }),
    requeue: (id: string, data: Uint8Array, name: string) =>
      this.#answer(() => {
        if (!this.#ids.has(name)) this.push(data, id);
        this.#ids.add(name);
      }),
    bury: (data: Uint8Array, name: string) =>
      this.#answer(() => {
        if (!this.#ids.has(name)) this.dead.push(data);
        this.#ids.add(name);
      }),
    openQueue: (_runtime: unknown, onCall: (delivery: Delivery) => void) => {
      let isStopped = false;
      return {
        beginEpoch: () => void this.epochs++,
        pull: (batch: number) => this.#pull(batch, onCall, () => isStopped),
        drain: () => {
          isStopped = true;
          this.#wake?.();
          return Promise.resolve();
        },
      };
    },
  } as unknown as DurableStore;

  push(data: Uint8Array, id?: string): void {
    this.stored.push({
      seq: this.stored.length + 1,
      data,
      id,
      storedMs: Date.now() + this.serverAheadMs,
      deliveries: 0,
      dueMs: this.clock.nowMs,
      isGone: false,
    });
    this.#wake?.();
  }

  enqueue(task: string, request: { id: string; delayMs?: number; retries?: number }): void {
    const full = { delayMs: 0, retries: 3, ...request };
    this.push(encodeCall(codec, task, full, []), full.id);
  }

  worker(calls: Record<string, () => unknown>): DurableWorker {
    return new DurableWorker({
      runtime: this.clock.runtime,
      codec,
      calls: calls as unknown as LocalCalls,
      store: this.store,
      maxCalls: 8,
      taskWaitMs: 60_000,
    });
  }

  /** Delivers what is due, as the server does: `batch` calls, or none for 5 s. Those who ask take turns. */
  async #pull(
    batch: number,
    onCall: (delivery: Delivery) => void,
    isStopped: () => boolean,
  ): Promise<boolean> {
    const endMs = this.clock.nowMs + 5000;
    this.largestPull = Math.max(this.largestPull, batch);
    this.#asking.add(onCall);
    let left = batch;
    while (left > 0 && !isStopped() && this.clock.nowMs < endMs) {
      if (this.pullFailure !== undefined) throw this.pullFailure;
      const due = this.stored.find(({ isGone, dueMs }) => !isGone && dueMs <= this.clock.nowMs);
      const [first] = this.#asking;
      if (due !== undefined && first === onCall) {
        this.#asking.delete(onCall);
        onCall(this.#deliver(due));
        if (--left > 0) this.#asking.add(onCall);
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.clock.runtime.setTimeout(resolve, 10);
      });
    }
    this.#asking.delete(onCall);
    return left === 0;
  }

  #deliver(stored: Stored): Delivery {
    const count = ++stored.deliveries;
    this.deliveredMs.push(this.clock.nowMs);
    const renew = (): void => {
      if (!stored.isGone) stored.dueMs = this.clock.nowMs + this.ackWaitMs;
    };
    renew();
    const gone = (): void => void (stored.isGone = true);
    return {
      seq: stored.seq,
      key: `${stored.seq}`,
      data: stored.data,
      id: stored.id,
      count,
      storedMs: stored.storedMs,
      ack: gone,
      terminate: gone,
      returnAfter: (ms: number) => void (stored.dueMs = this.clock.nowMs + ms),
      renew: () => {
        this.renewals++;
        if (!this.isSilent) renew();
      },
    } as Delivery;
  }

  get left(): number {
    return this.stored.filter(({ isGone }) => !isGone).length;
  }

  failureOf(id: string): Error {
    const message = this.results.get(id)!;
    const header = readHeader(message)!;
    expect(header.kind).toBe(FAILURE);
    return codec.decode(message, header)[0] as Error;
  }
}

describe("a durable call", () => {
  test("runs once, and its result is recorded before it is acknowledged", async () => {
    const queue = new Queue();
    let runs = 0;
    const worker = queue.worker({ f: () => ++runs });
    queue.enqueue("f", { id: "a" });
    await queue.clock.advance(100_000);
    expect([runs, queue.left, [...queue.results.keys()]]).toEqual([1, 0, ["a"]]);
    await stop(queue, worker);
  });

  test("that throws is delivered again, each time after twice the pause, up to its retries", async () => {
    const queue = new Queue();
    const worker = queue.worker({
      f: () => {
        throw new RangeError(`run ${queue.deliveredMs.length}`);
      },
    });
    queue.enqueue("f", { id: "a", retries: 4 });
    await queue.clock.advance(100_000);
    const pauses = queue.deliveredMs.slice(1).map((at, index) => at - queue.deliveredMs[index]!);
    expect(pauses.map((ms) => Math.floor(ms / 100) * 100)).toEqual([200, 400, 800, 1600]);
    expect([queue.left, queue.dead.length]).toEqual([0, 1]);
    const failure = queue.failureOf("a");
    expect(failure).toBeInstanceOf(RangeError);
    expect(failure.message).toBe("run 5");
    await stop(queue, worker);
  });

  test("that takes longer than ackWaitMs is renewed, and not given to another", async () => {
    const queue = new Queue();
    let runs = 0;
    const worker = queue.worker({
      f: () => {
        runs++;
        return new Promise((resolve) =>
          queue.clock.runtime.setTimeout(() => resolve("late"), 10 * ACK_WAIT_MS)
        );
      },
    });
    queue.enqueue("f", { id: "a" });
    await queue.clock.advance(11 * ACK_WAIT_MS);
    expect([runs, queue.left, queue.results.has("a")]).toEqual([1, 0, true]);
    expect(queue.renewals).toBe(30);
    await queue.clock.advance(ACK_WAIT_MS);
    expect(queue.renewals).toBe(30); // over with the call
    await stop(queue, worker);
  });

  test("whose machines are lost becomes a dead letter after its retries", async () => {
    const queue = new Queue();
    queue.enqueue("f", { id: "a", retries: 2 });
    // Three machines were lost with it.
    queue.stored[0]!.deliveries = 3;
    let runs = 0;
    const worker = queue.worker({ f: () => ++runs });
    await queue.clock.advance(ACK_WAIT_MS - 100);
    expect([runs, queue.left, queue.dead.length]).toEqual([0, 1, 0]); // the last one may still record it
    await queue.clock.advance(1000);
    expect([runs, queue.left, queue.dead.length]).toEqual([0, 0, 1]);
    expect(queue.failureOf("a")).toMatchObject({
      code: "HEDDLE_WORKER_LOST",
      reason: "3 machines were lost while running it",
    });
    await stop(queue, worker);
  });

  test("that was recorded by a machine which was lost before it acknowledged runs no more", async () => {
    const queue = new Queue();
    queue.results.set("a", new Uint8Array(1));
    queue.enqueue("f", { id: "a" });
    let runs = 0;
    const worker = queue.worker({ f: () => ++runs });
    await queue.clock.advance(2 * ACK_WAIT_MS);
    expect([runs, queue.left, queue.deliveredMs.length]).toEqual([0, 0, 1]);
    await stop(queue, worker);
  });

  test("with a delay waits for it, and deliveries before are no runs", async () => {
    const queue = new Queue();
    let runs = 0;
    const worker = queue.worker({ f: () => ++runs });
    queue.enqueue("f", { id: "a", delayMs: 60_000, retries: 0 });
    await queue.clock.advance(50_000);
    expect(runs).toBe(0);
    await queue.clock.advance(20_000);
    expect([runs, queue.deliveredMs.length]).toEqual([1, 3]); // put off, due, and its copy
    await stop(queue, worker);
  });

  test("in another format, or of an unknown task, is a dead letter", async () => {
    const queue = new Queue();
    const worker = queue.worker({ f: () => 1 });
    queue.push(new Uint8Array([1, 2, 3]));
    queue.enqueue("missing", { id: "b", retries: 0 });
    await queue.clock.advance(55_000);
    expect([queue.left, queue.dead.length]).toEqual([1, 1]);
    await queue.clock.advance(15_000);
    expect([queue.left, queue.dead.length]).toEqual([0, 2]);
    expect(queue.failureOf("b")).toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
    await stop(queue, worker);
  });

  test("of another version of the protocol is a dead letter, and its caller gets both versions", async () => {
    const queue = new Queue();
    queue.enqueue("f", { id: "a" });
    queue.stored[0]!.data[1] = 2;
    const worker = queue.worker({ f: () => 1 });
    await queue.clock.advance(100);
    expect([queue.left, queue.dead.length]).toEqual([0, 1]);
    expect(queue.failureOf("a")).toMatchObject({
      code: "HEDDLE_PROTOCOL",
      message: "A durable call cannot be read: it is of version 2 of the protocol, and this is " +
        "version 1.",
    });
    await stop(queue, worker);
  });

  test("that ends its machines while it is decoded is a dead letter after its retries", async () => {
    for (const runs of [3, 1001]) {
      const queue = new Queue();
      queue.enqueue("f", { id: "a", retries: runs - 1 });
      ruin(queue.stored[0]!);
      queue.stored[0]!.deliveries = runs;
      const worker = queue.worker({ f: () => 1 });
      await queue.clock.advance(2 * ACK_WAIT_MS);
      expect([queue.left, queue.dead.length]).toEqual([0, 1]);
      expect(queue.failureOf("a")).toMatchObject({
        reason: `${runs} machines were lost while running it`,
      });
      await stop(queue, worker);
    }
  });

  test("is not decoded before it is run, so that its machines are counted", async () => {
    for (const task of ["f", "missing"]) {
      const queue = new Queue();
      queue.enqueue(task, { id: "a", delayMs: 50_000 });
      ruin(queue.stored[0]!);
      const worker = queue.worker({ f: () => 1 });
      await queue.clock.advance(49_000);
      expect([queue.left, queue.dead.length]).toEqual([1, 0]);
      await queue.clock.advance(70_000);
      expect([queue.left, queue.dead.length]).toEqual([0, 1]);
      const code = task === "f" ? "HEDDLE_PROTOCOL" : "HEDDLE_UNKNOWN_TASK";
      expect(queue.failureOf("a")).toMatchObject({ code });
      await stop(queue, worker);
    }
  });

  test("of a machine that stops goes to the next one, which is no further run", async () => {
    const queue = new Queue();
    const { PoolClosedError } = await import("../../../src/errors.ts");
    const worker = queue.worker({
      f: () =>
        new Promise((_, reject) =>
          queue.clock.runtime.setTimeout(() => reject(new PoolClosedError()), 100)
        ),
    });
    queue.enqueue("f", { id: "a", retries: 0 });
    await queue.clock.advance(50);
    await stop(queue, worker);
    let runs = 0;
    const next = queue.worker({ f: () => ++runs });
    await queue.clock.advance(1000);
    expect([runs, queue.left, queue.dead.length]).toEqual([1, 0, 0]);
    await stop(queue, next);
  });
});

describe("a durable call that is no fault of a machine", () => {
  const unanswered = (): Error => Object.assign(new Error("timeout"), { name: "TimeoutError" });

  test("has succeeded although its result cannot be recorded for long", async () => {
    const queue = new Queue();
    let runs = 0;
    const worker = queue.worker({
      f: () => {
        queue.failure = unanswered();
        return ++runs;
      },
    });
    queue.enqueue("f", { id: "a", retries: 0 });
    await queue.clock.advance(5 * ACK_WAIT_MS);
    expect([runs, queue.left, queue.results.size]).toEqual([1, 1, 0]);
    queue.failure = undefined;
    await queue.clock.advance(5000);
    expect([runs, queue.left, queue.dead.length]).toEqual([1, 0, 0]);
    expect(readHeader(queue.results.get("a")!)?.kind).toBe(RESULT);
    await stop(queue, worker);
  });

  test("runs once if the server refuses its result", async () => {
    const queue = new Queue();
    queue.refusal = new Error("message size exceeds maximum allowed");
    let runs = 0;
    const worker = queue.worker({ f: () => ++runs });
    queue.enqueue("f", { id: "a" });
    await queue.clock.advance(3 * ACK_WAIT_MS);
    expect([runs, queue.left, queue.dead.length]).toEqual([1, 0, 1]);
    expect(queue.failureOf("a").message).toContain("message size exceeds");
    await stop(queue, worker);
  });

  test("is not run again when it is delivered to the machine that has it", async () => {
    const queue = new Queue();
    let runs = 0;
    const worker = queue.worker({
      f: () => {
        runs++;
        return new Promise((resolve) =>
          queue.clock.runtime.setTimeout(() => resolve(1), 3 * ACK_WAIT_MS)
        );
      },
    });
    queue.isSilent = true; // as while the machine is suspended
    queue.enqueue("f", { id: "a", retries: 0 });
    await queue.clock.advance(4 * ACK_WAIT_MS);
    expect(queue.deliveredMs.length).toBeGreaterThan(2);
    expect([runs, queue.left, queue.dead.length]).toEqual([1, 0, 0]);
    expect(readHeader(queue.results.get("a")!)?.kind).toBe(RESULT);
    await stop(queue, worker);
  });

  test("is recorded by its machine that was cut off, while another one waits to give it up", async () => {
    const queue = new Queue();
    const slow = queue.worker({
      f: () =>
        new Promise((resolve) =>
          queue.clock.runtime.setTimeout(() => resolve("late"), ACK_WAIT_MS + 5000)
        ),
    });
    queue.enqueue("f", { id: "a", retries: 0 });
    await queue.clock.advance(100);
    queue.isSilent = true;
    let runs = 0;
    const other = queue.worker({ f: () => ++runs });
    await queue.clock.advance(3 * ACK_WAIT_MS);
    expect([runs, queue.left, queue.dead.length]).toEqual([0, 0, 0]);
    expect(readHeader(queue.results.get("a")!)?.kind).toBe(RESULT);
    queue.isSilent = false;
    await stop(queue, slow);
    await stop(queue, other);
  });

  test("is renewed as often as the queue demands, also when that has changed", async () => {
    const queue = new Queue();
    queue.ackWaitMs = 900;
    let runs = 0;
    const worker = queue.worker({
      f: () => {
        runs++;
        return new Promise((resolve) =>
          queue.clock.runtime.setTimeout(() => resolve(1), ACK_WAIT_MS)
        );
      },
    });
    queue.enqueue("f", { id: "a" });
    await queue.clock.advance(2 * ACK_WAIT_MS);
    expect([runs, queue.deliveredMs.length]).toEqual([1, 1]);
    queue.pullFailure = new Error("no consumer");
    queue.ackWaitMs = 300;
    queue.created++;
    await queue.clock.advance(6000);
    queue.pullFailure = undefined;
    queue.enqueue("f", { id: "b" });
    await queue.clock.advance(2 * ACK_WAIT_MS);
    expect([runs, queue.deliveredMs.length]).toEqual([2, 2]);
    expect(queue.epochs).toBe(1); // numbers of calls in the new queue are others
    await stop(queue, worker);
  });

  test("stays in the queue while a machine has no room", async () => {
    const queue = new Queue();
    let running = 0;
    let most = 0;
    const worker = queue.worker({
      f: async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => queue.clock.runtime.setTimeout(resolve, 1000));
        running--;
      },
    });
    for (let n = 0; n < 20; n++) queue.enqueue("f", { id: `a${n}` });
    await queue.clock.advance(500);
    expect([running, queue.deliveredMs.length, queue.largestPull]).toEqual([8, 8, 8]);
    await queue.clock.advance(10_000);
    expect([most, queue.left, queue.results.size]).toEqual([8, 0, 20]);
    await stop(queue, worker);
  });

  test("and is done, but stored again by a server that was killed, is dropped", async () => {
    const queue = new Queue();
    queue.doneUpTo = 5;
    const worker = queue.worker({ f: () => 1 });
    await queue.clock.advance(100);
    expect(queue.dropped).toEqual([5]);
    queue.doneUpTo = 9; // of another machine that was not done
    await queue.clock.advance(11_000);
    expect(queue.dropped).toEqual([5, 9]);
    await stop(queue, worker);
  });

  test("waits for a machine that has its task, and no wait is a run", async () => {
    const queue = new Queue();
    const old = queue.worker({ other: () => 1 });
    queue.enqueue("f", { id: "a", retries: 0 });
    queue.enqueue("f", { id: "late", retries: 0, delayMs: 1000 });
    await queue.clock.advance(5000);
    expect([queue.left, queue.dead.length]).toEqual([2, 0]);
    expect(queue.deliveredMs.length).toBeLessThan(20);
    let runs = 0;
    const next = queue.worker({ f: () => ++runs });
    await queue.clock.advance(40_000);
    expect([runs, queue.left, queue.dead.length]).toEqual([2, 0, 0]);
    await stop(queue, old);
    await stop(queue, next);
  });

  test("is not delivered all the time by a machine whose clock is behind or ahead", async () => {
    for (const serverAheadMs of [60_000, -60_000]) {
      const queue = new Queue();
      queue.serverAheadMs = serverAheadMs;
      let runs = 0;
      const worker = queue.worker({ f: () => ++runs });
      queue.enqueue("f", { id: "a", delayMs: 5 });
      await queue.clock.advance(70_000);
      expect(runs).toBe(1);
      expect(queue.deliveredMs.length).toBeLessThan(5);
      await stop(queue, worker);
    }
  });

  test.each([
    { retries: NaN },
    { retries: Infinity },
    { retries: -1 },
    { retries: 1001 },
    { delayMs: Infinity },
    { delayMs: NaN },
    { delayMs: 1e300 },
    { delayMs: -1 },
  ])("is refused with settings that no caller sends: %o", async (settings) => {
    const queue = new Queue();
    let runs = 0;
    const worker = queue.worker({ f: () => ++runs });
    queue.enqueue("f", { id: "a", ...settings });
    await queue.clock.advance(1000);
    expect([runs, queue.left, queue.dead.length, queue.deliveredMs.length]).toEqual([0, 0, 1, 1]);
    expect(queue.failureOf("a")).toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
    await stop(queue, worker);
  });
});

/** What cannot be decoded stands for what ends a machine. */
function ruin({ data }: Stored): void {
  data.fill(0xff, 40);
}

async function stop(queue: Queue, worker: DurableWorker): Promise<void> {
  let isStopped = false;
  void worker.stop().then(() => isStopped = true);
  for (let turn = 0; turn < 100 && !isStopped; turn++) await queue.clock.advance(20);
  expect(isStopped).toBe(true);
}
