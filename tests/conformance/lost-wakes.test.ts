/**
 * Wake-ups that a runtime loses or delays, put in by force: the safety check saves the call, and its counters say
 * which it was. And the count of awake workers after the death of one.
 */
import { Worker as NodeWorker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { AwakeCount } from "../../src/sync/awake-count.ts";
import { WAKE } from "../../src/protocol/start-data.ts";
import { IN_EVENT_LOOP, Waker } from "../../src/sync/worker-parking.ts";
import { createFaultyPool } from "../fixtures/faulty-wakes.ts";
import { begun, rejection, release, sharedWords, testPool, until } from "../support/conformance.ts";
import { pause, runtimeName } from "../support/runtime.ts";

interface WorkerPrototype {
  postMessage(this: unknown, message: unknown, ...rest: unknown[]): void;
}

/** Of the threads that heddle starts: on Bun its own kind. */
const prototype = (runtimeName === "bun" ? globalThis.Worker : NodeWorker)
  .prototype as unknown as WorkerPrototype & Record<string, (...args: unknown[]) => unknown>;

/** Until the end of the test, a message from a worker arrives when `take` has not taken it. */
function interceptMessages(take: (message: unknown, receive: () => void) => boolean): void {
  const [name, messageOf] = runtimeName === "bun"
    ? ["addEventListener", (event: { readonly data: unknown }): unknown => event.data] as const
    : ["on", (message: unknown): unknown => message] as const;
  const listen = prototype[name]!;
  prototype[name] = function (type: unknown, listener: unknown, ...rest: unknown[]) {
    const receive = listener as (received: unknown) => void;
    const intercepted = (received: { readonly data: unknown }): void => {
      if (!take(messageOf(received), () => receive(received))) receive(received);
    };
    return listen.call(this, type, type === "message" ? intercepted : listener, ...rest);
  };
  onTestFinished(() => void (prototype[name] = listen));
}

type FaultyPool = ReturnType<typeof createFaultyPool>;

/** Closed at the end. */
async function faultyPool(): Promise<FaultyPool> {
  const pool = createFaultyPool();
  onTestFinished(() => pool.shutdown());
  expect(await pool.call.echo("awake")).toBe("awake");
  return pool;
}

/** Calls to a worker that has most likely gone to rest, until it had and `isDone`. */
async function callAtRest(pool: FaultyPool, isDone: () => boolean): Promise<void> {
  await until(isDone, async () => {
    await pause(30);
    expect(await pool.call.echo("saved")).toBe("saved");
  });
}

describe("wakes of the worker", () => {
  test.each(["lost", "slow"])("a %s wake message is repaired", async (what) => {
    const { postMessage } = prototype;
    let send: (() => void) | undefined;
    prototype.postMessage = function (message, ...rest) {
      if (message !== WAKE || send !== undefined) postMessage.call(this, message, ...rest);
      else send = () => postMessage.call(this, message, ...rest);
    };
    onTestFinished(() => void (prototype.postMessage = postMessage));
    const pool = await faultyPool();
    // Not every one counts: the worker may have been about to look again.
    await callAtRest(pool, () => {
      if (send === undefined) return false;
      if (pool.stats().lateWakes > 0) return true;
      send();
      send = undefined;
      return false;
    });
    expect(pool.stats().safetyHits).toBe(0);
    if (what === "slow") send!();
    expect(await pool.call.echo("goes on")).toBe("goes on");
  });

  test("a missing wake is repaired", async () => {
    const pool = await faultyPool();
    const { wake } = Waker.prototype;
    let forgets = 0;
    Waker.prototype.wake = function () {
      if (this.state === IN_EVENT_LOOP && forgets-- > 0) return false;
      return wake.call(this);
    };
    onTestFinished(() => void (Waker.prototype.wake = wake));
    // Not every one counts: the worker may have been about to look again.
    await callAtRest(pool, () => {
      forgets = 1;
      return pool.stats().safetyHits > 0;
    });
    forgets = 0;
    expect(await pool.call.echo("goes on")).toBe("goes on");
  });
});

describe("wakes of the host", () => {
  /** A call that is answered while the host is parked. */
  async function answeredAtRest(pool: FaultyPool): Promise<void> {
    const words = sharedWords();
    const { parks } = pool.stats();
    const call = pool.call.later(words);
    await until(() => pool.stats().parks > parks);
    release(words);
    expect(await call).toBe("answered");
  }

  test.each(["lost", "slow"])("a %s wake message is repaired", async (what) => {
    let isArmed = false;
    let held: (() => void) | undefined;
    interceptMessages((message, receive) => {
      if (!isArmed || message !== WAKE) return false;
      isArmed = false;
      held = receive;
      return true;
    });
    const pool = await faultyPool();
    await until(() => pool.stats().lateWakes > 0, async () => {
      held?.();
      isArmed = true;
      await answeredAtRest(pool);
    });
    expect(pool.stats().safetyHits).toBe(0);
    if (what === "slow") held!();
    await answeredAtRest(pool);
  });

  test("a missing wake is repaired", async () => {
    const pool = await faultyPool();
    await until(() => pool.stats().safetyHits > 0, async () => {
      const words = sharedWords();
      await pool.call.forgetToWake(words);
      await begun(words);
      await answeredAtRest(pool);
    });
    await answeredAtRest(pool);
  });
});

test("a lost worker's nested workers are subtracted from the count of awake workers", async () => {
  const count = new Int32Array(AwakeCount.ofThread().buffer);
  const before = Atomics.load(count, 0);
  const pool = testPool();
  for (let round = 0; round < 3; round++) {
    expect(await rejection(pool.call.dieWithNestedPool())).toMatchObject({ exitCode: 9 });
    // With a count that is too high host and worker never spin. The replacement has not been started yet.
    expect(Atomics.load(count, 0)).toBe(before);
  }
});
