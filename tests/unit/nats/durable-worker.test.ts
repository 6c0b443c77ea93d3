/** Durable calls that fail, are lost and delivered again, in virtual time, with a queue in memory. */
import { describe, expect, test } from "vitest";
import { DurableWorker } from "../../../src/nats/durable/durable-worker.ts";
import type { Delivery } from "../../../src/nats/durable/delivery.ts";
import type { DurableStore } from "../../../src/nats/durable/store.ts";
import type { LocalCalls } from "../../../src/nats/machine/local-calls.ts";
import { CALL, FAILURE, readHeader } from "../../../src/nats/wire/frames.ts";
import { MessageCodec } from "../../../src/nats/wire/message-codec.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { VirtualClock } from "../../support/virtual-nats.ts";

const ACK_WAIT_MS = 30_000;
const codec = new MessageCodec(currentRuntime, 2 ** 20);

interface Stored {
  readonly seq: number;
  readonly data: Uint8Array;
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
  #wake: (() => void) | undefined;

  /** Requests of the store fail with this. */
  failure: Error | undefined;
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
    ensure: () => this.#answer(() => ({ ackWaitMs: this.ackWaitMs, created: this.created })),
    readResult: (id: string) => this.#answer(() => this.results.get(id)),
    record: (id: string, message: Uint8Array) =>
      this.#answer(() => {
        if (!this.results.has(id)) this.results.set(id, message);
      }),
    requeue: (_id: string, data: Uint8Array, name: string) =>
      this.#answer(() => {
        if (!this.#ids.has(name)) this.push(data);
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
        beginEpoch: () => {},
        pull: (batch: number) => this.#pull(batch, onCall, () => isStopped),
        drain: () => {
          isStopped = true;
          this.#wake?.();
          return Promise.resolve();
        },
      };
    },
  } as unknown as DurableStore;

  push(data: Uint8Array): void {
    this.stored.push({
      seq: this.stored.length + 1,
      data,
      storedMs: Date.now() + this.serverAheadMs,
      deliveries: 0,
      dueMs: this.clock.nowMs,
      isGone: false,
    });
    this.#wake?.();
  }

  enqueue(task: string, request: { id: string; delayMs?: number; retries?: number }): void {
    const full = { delayMs: 0, retries: 3, ...request };
    this.push(codec.encode(CALL, [task, full], [], "args"));
  }

  worker(calls: Record<string, () => unknown>): DurableWorker {
    return new DurableWorker({
      runtime: this.clock.runtime,
      codec,
      calls: calls as unknown as LocalCalls,
      store: this.store,
      maxCalls: 8,
      taskWaitMs: 10_000,
    });
  }

  /** Delivers what is due, as the server does: `batch` calls, or none for 5 s. */
  async #pull(
    batch: number,
    onCall: (delivery: Delivery) => void,
    isStopped: () => boolean,
  ): Promise<void> {
    const endMs = this.clock.nowMs + 5000;
    this.largestPull = Math.max(this.largestPull, batch);
    for (let left = batch; left > 0 && !isStopped() && this.clock.nowMs < endMs;) {
      const due = this.stored.find(({ isGone, dueMs }) => !isGone && dueMs <= this.clock.nowMs);
      if (due !== undefined) {
        onCall(this.#deliver(due));
        left--;
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.clock.runtime.setTimeout(resolve, 10);
      });
    }
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
    await queue.clock.advance(20_000);
    expect([queue.left, queue.dead.length]).toEqual([0, 2]);
    expect(queue.failureOf("b")).toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
    await stop(queue, worker);
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

async function stop(queue: Queue, worker: DurableWorker): Promise<void> {
  let isStopped = false;
  void worker.stop().then(() => isStopped = true);
  for (let turn = 0; turn < 100 && !isStopped; turn++) await queue.clock.advance(20);
  expect(isStopped).toBe(true);
}
