import { describe, expect, test } from "vitest";
import { ActiveCount } from "../../src/park/active-count.ts";
import { BLOCKED, IN_EVENT_LOOP, Parker, RUNNING, Waker } from "../../src/park/wake-word.ts";

const CORES = 4;

/** A worker and who wakes it, both in this thread, and what counts the worker. */
function workerAndWaker() {
  const words = new Int32Array(new SharedArrayBuffer(128));
  const share = { buffer: new SharedArrayBuffer(128), index: 3 };
  const active = new ActiveCount([ActiveCount.create(), share], CORES);
  const coresAtPost: number[] = [];
  const waker = new Waker(words, 0, () => coresAtPost.push(active.coresLeft), active.words);
  return { parker: new Parker(words, 0, active.words), waker, active, share, coresAtPost };
}

describe("a worker counts as awake", () => {
  test("until it parks", () => {
    for (const state of [BLOCKED, IN_EVENT_LOOP] as const) {
      const { parker, active } = workerAndWaker();
      expect(active.coresLeft).toBe(CORES - 1);
      parker.announce(state);
      expect(active.coresLeft).toBe(CORES);
      expect(parker.cancel(state)).toBe(true);
      expect(active.coresLeft).toBe(CORES - 1);
    }
  });

  test("when it is woken, not when it runs, and once", () => {
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

  test("no more when it is gone, be it woken then or not", () => {
    const { parker, waker, active, share, coresAtPost } = workerAndWaker();
    parker.announce(IN_EVENT_LOOP);
    waker.wake();
    active.takeBack(share);
    expect(active.coresLeft).toBe(CORES);
    parker.announce(IN_EVENT_LOOP); // a thread that was given up, and goes on
    const { coresLeft } = active;
    waker.retire();
    waker.wake();
    expect(waker.state).not.toBe(RUNNING);
    expect(active.coresLeft).toBe(coresLeft);
    expect(coresAtPost).toHaveLength(1);
  });
});
