import { describe, expect, test } from "vitest";
import { AwakeCount } from "../../../src/sync/awake-count.ts";
import { BLOCKED, IN_EVENT_LOOP, Parker, Waker } from "../../../src/sync/worker-parking.ts";

const CORES = 4;

/** A worker and who wakes it, both in this thread, and what counts the worker. */
function workerAndWaker() {
  const words = new Int32Array(new SharedArrayBuffer(128));
  const count = AwakeCount.create();
  const share = { buffer: new SharedArrayBuffer(128), index: 3 };
  /** As the host has it. */
  const active = new AwakeCount([count], CORES);
  const coresAtPost: number[] = [];
  const counts = new AwakeCount([count, share], CORES).words;
  const waker = new Waker(words, 0, () => coresAtPost.push(active.coresLeft), counts);
  return { parker: new Parker(words, 0, counts), waker, active, share, coresAtPost };
}

describe("the count of awake workers", () => {
  test("includes a worker until it parks", () => {
    for (const state of [BLOCKED, IN_EVENT_LOOP] as const) {
      const { parker, active } = workerAndWaker();
      expect(active.coresLeft).toBe(CORES - 1);
      parker.announce(state);
      expect(active.coresLeft).toBe(CORES);
      expect(parker.cancel(state)).toBe(true);
      expect(active.coresLeft).toBe(CORES - 1);
    }
  });

  test("includes a worker once, from its wake", () => {
    const { parker, waker, active, coresAtPost } = workerAndWaker();
    parker.announce(IN_EVENT_LOOP);
    waker.wake();
    waker.wake();
    expect(coresAtPost).toEqual([CORES - 1]);
    expect(active.coresLeft).toBe(CORES - 1);
    expect(parker.cancel(IN_EVENT_LOOP)).toBe(false);
    expect(active.coresLeft).toBe(CORES - 1);
    parker.announce(BLOCKED);
    waker.wake();
    expect(parker.block(Infinity)).toBe(true);
    expect(active.coresLeft).toBe(CORES - 1);
    parker.announce(BLOCKED);
    expect(parker.block(0)).toBe(false);
    expect(active.coresLeft).toBe(CORES - 1);
  });

  test("wake() returns whether it posted a message", () => {
    const { parker, waker } = workerAndWaker();
    expect(waker.wake()).toBe(false);
    parker.announce(BLOCKED);
    expect(waker.wake()).toBe(false);
    parker.announce(IN_EVENT_LOOP);
    expect([waker.wake(), waker.wake()]).toEqual([true, false]);
  });

  test("includes a worker once if its wake message failed and `repost` posts it", () => {
    const words = new Int32Array(new SharedArrayBuffer(128));
    const count = new AwakeCount([AwakeCount.create()], CORES);
    let posts = 0;
    const waker = new Waker(words, 0, () => {
      if (++posts === 1) throw new RangeError("the stack ends here");
    }, count.words);
    const parker = new Parker(words, 0, count.words);
    parker.announce(IN_EVENT_LOOP);
    expect(() => waker.wake()).toThrow(RangeError);
    waker.wake();
    expect(posts).toBe(1);
    expect(count.coresLeft).toBe(CORES - 1);
    waker.repost();
    expect(posts).toBe(2);
    expect(parker.cancel(IN_EVENT_LOOP)).toBe(false);
    expect(count.coresLeft).toBe(CORES - 1);
  });

  test("excludes an abandoned worker even if its thread runs and is woken", () => {
    const { parker, waker, active, share } = workerAndWaker();
    parker.announce(IN_EVENT_LOOP);
    waker.wake();
    active.subtract(share);
    active.subtract(share);
    expect(active.coresLeft).toBe(CORES);
    for (let time = 0; time < 3; time++) {
      parker.announce(IN_EVENT_LOOP);
      expect(active.coresLeft).toBe(CORES);
      if (time > 0) waker.wake();
      parker.cancel(IN_EVENT_LOOP);
      expect(active.coresLeft).toBe(CORES);
    }
  });

  test("includes nested workers and excludes those of an abandoned worker", () => {
    const count = AwakeCount.create();
    const [outer, inner] = [AwakeCount.create(), AwakeCount.create()];
    const words = new Int32Array(new SharedArrayBuffer(128));
    const host = new AwakeCount([count], CORES);
    const worker = new Parker(words, 0, new AwakeCount([count, outer], CORES).words);
    const nested = new Parker(words, 1, new AwakeCount([count, outer, inner], CORES).words);
    expect(host.coresLeft).toBe(CORES - 2);
    host.subtract(outer);
    expect(host.coresLeft).toBe(CORES);
    worker.announce(BLOCKED);
    nested.announce(BLOCKED);
    new Waker(words, 1, () => {}, new AwakeCount([count, outer, inner], CORES).words).wake();
    expect(host.coresLeft).toBe(CORES);
  });
});
