/** Waits for results of durable calls: each ends once, whatever is lost, and all of a pool share one subscription. */
import { describe, expect, test } from "vitest";
import { PoolClosedError, TimeoutError } from "../../../src/errors.ts";
import { ResultWaits } from "../../../src/nats/durable/result-waits.ts";
import { rejection } from "../../support/conformance.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const turns = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Timers that go off when the test says so. */
class Timers {
  readonly #due = new Set<() => void>();

  readonly set = (callback: () => void) => {
    this.#due.add(callback);
    return { clear: () => void this.#due.delete(callback), ref: () => {}, unref: () => {} };
  };

  get size(): number {
    return this.#due.size;
  }

  async fire(): Promise<void> {
    const due = Array.from(this.#due); // not those that they set
    for (const callback of due) callback();
    await turns();
  }
}

class Store {
  readonly results = new Map<string, Uint8Array>();
  readonly watchers = new Set<(id: string) => void>();
  reads = 0;
  opened = 0;
  failure: Error | undefined;

  readonly readResult = async (id: string) => {
    this.reads++;
    await turns();
    if (this.failure !== undefined) throw this.failure;
    return this.results.get(id);
  };

  readonly watchResults = async (onRecorded: (id: string) => void) => {
    await turns();
    if (this.failure !== undefined) throw this.failure;
    this.opened++;
    this.watchers.add(onRecorded);
    return () => void this.watchers.delete(onRecorded);
  };

  record(id: string, isNamed = true): void {
    this.results.set(id, bytes(id));
    if (isNamed) { for (const watcher of this.watchers) watcher(id); }
  }
}

function setUp() {
  const store = new Store();
  const timers = new Timers();
  const runtime = { setTimeout: timers.set, setInterval: timers.set };
  const line = { once: <Result>(request: () => Promise<Result>) => request() };
  const waits = new ResultWaits(runtime, line, () => Promise.resolve(store));
  return { store, timers, waits };
}

const open = async (store: Store): Promise<void> => {
  while (store.watchers.size === 0) await turns();
};

describe("waits for results", () => {
  test("a recorded result opens no subscription", async () => {
    const { store, timers, waits } = setUp();
    store.record("a");
    expect(await waits.wait("a", Infinity)).toEqual(bytes("a"));
    expect([store.opened, store.reads, timers.size]).toEqual([0, 1, 0]);
  });

  test("all waits share a subscription, which ends after the last of them", async () => {
    const { store, timers, waits } = setUp();
    const all = ["a", "b", "b", "c"].map((id) => waits.wait(id, Infinity));
    await open(store);
    for (const id of ["a", "b", "c", "not awaited"]) store.record(id);
    expect(await Promise.all(all)).toEqual(["a", "b", "b", "c"].map(bytes));
    expect([store.opened, store.watchers.size]).toEqual([1, 1]);
    await timers.fire();
    expect([store.watchers.size, timers.size]).toEqual([0, 0]);
    const later = waits.wait("d", Infinity);
    await open(store);
    store.record("d");
    expect(await later).toEqual(bytes("d"));
    expect(store.opened).toBe(2);
  });

  test("a result that is recorded while the subscription opens is found", async () => {
    const { store, waits } = setUp();
    const wait = waits.wait("a", Infinity);
    while (store.reads === 0) await turns();
    await turns(); // the first look has found nothing
    store.record("a");
    expect(await wait).toEqual(bytes("a"));
  });

  test("a message that is lost, or a look that fails, is made up for", async () => {
    const { store, timers, waits } = setUp();
    const wait = waits.wait("a", Infinity);
    await open(store);
    await turns();
    store.record("a", false);
    store.failure = new Error("no responders");
    await timers.fire();
    store.failure = undefined;
    await timers.fire();
    expect(await wait).toEqual(bytes("a"));
  });

  test("the first failure rejects, and the next wait tries again", async () => {
    const { store, timers, waits } = setUp();
    store.failure = new Error("permissions violation");
    const error = await rejection(waits.wait("a", Infinity));
    expect(error).toMatchObject({ code: "HEDDLE_NO_MACHINES", cause: store.failure });
    expect(timers.size).toBe(0);
    store.failure = undefined;
    const wait = waits.wait("a", Infinity);
    await open(store);
    store.record("a");
    expect(await wait).toEqual(bytes("a"));
  });

  test("waits go on while the server does not answer", async () => {
    const { store, timers, waits } = setUp();
    store.failure = Object.assign(new Error("timeout"), { name: "TimeoutError" });
    const wait = waits.wait("a", Infinity);
    const limited = rejection(waits.wait("b", 50));
    await turns();
    await turns();
    await timers.fire(); // the limit among them
    expect(await limited).toBeInstanceOf(TimeoutError);
    store.failure = undefined;
    store.record("a");
    await timers.fire();
    expect(await wait).toEqual(bytes("a"));
  });

  test("a time limit ends one wait, closing ends all", async () => {
    const { store, timers, waits } = setUp();
    const limited = rejection(waits.wait("a", 50));
    await timers.fire();
    expect(await limited).toBeInstanceOf(TimeoutError);
    const others = ["a", "b"].map((id) => waits.wait(id, Infinity));
    const settled = Promise.allSettled(others);
    await open(store);
    const closed = new PoolClosedError();
    await waits.close(closed);
    expect(await settled).toMatchObject([{ reason: closed }, { reason: closed }]);
    expect([store.watchers.size, timers.size]).toEqual([0, 0]);
    await expect(waits.wait("c", Infinity)).rejects.toBe(closed);
  });
});
