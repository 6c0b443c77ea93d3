/** What the policy learns of machines on which spinning takes so long and parking so long. */
import { describe, expect, test } from "vitest";
import { SpinPolicy } from "../../../src/sync/spin-policy.ts";

/** Calls until it has learned, at most. */
const LEARNING = 20_000;

interface Machine {
  /** Milliseconds that a wait takes. */
  readonly spun: number;
  readonly parked: number;
  /** Calls that are made at once, and settled by several polls. */
  readonly batch?: number;
  /** Milliseconds without a call after each. */
  readonly idle?: number | ((spins: boolean) => number);
}

function createPolicy(spinMs = 0.1) {
  const state = { nowMs: 1000, readings: 0 };
  const word = new Int32Array(new SharedArrayBuffer(4));
  const policy = new SpinPolicy(word, () => {
    state.readings++;
    return state.nowMs;
  }, spinMs);
  /** Makes so many calls on a machine; returns the share of them for which the threads spun. */
  const run = ({ spun, parked, batch = 1, idle = 0 }: Machine, calls: number): number => {
    let spins = 0;
    for (let call = 0; call < calls;) {
      for (let left = batch; left > 0;) {
        const settled = Math.min(left, 64);
        // Only the first answers of a batch are waited for.
        if (left === batch) state.nowMs += policy.spins ? spun : parked;
        if (policy.spins) spins += settled;
        left -= settled;
        policy.settled(settled);
      }
      call += batch;
      if (word[0] !== (policy.spins ? 1 : 0)) throw new Error("workers read the contrary");
      state.nowMs += typeof idle === "number" ? idle : idle(policy.spins);
    }
    return spins / calls;
  };
  return { policy, state, run };
}

describe("whether the threads of a pool spin", () => {
  test("not for the first calls", () => {
    const { policy, run } = createPolicy();
    expect(run({ spun: 0.004, parked: 0.05 }, 15)).toBe(0);
    run({ spun: 0.004, parked: 0.05 }, 1);
    expect(policy.spins).toBe(true);
  });

  test("for nearly all calls where that is quicker", () => {
    expect(createPolicy().run({ spun: 0.004, parked: 0.05 }, 100_000)).toBeGreaterThan(0.99);
    expect(createPolicy().run({ spun: 0.03, parked: 0.04 }, 100_000)).toBeGreaterThan(0.95);
  });

  test("for few calls where it is slower, or hardly quicker", () => {
    for (const parked of [0.03, 0.05, 0.052]) {
      const { run } = createPolicy();
      run({ spun: 0.05, parked }, LEARNING);
      expect(run({ spun: 0.05, parked }, 100_000)).toBeLessThan(0.05);
    }
  });

  test("follows a machine that changes", () => {
    const { run } = createPolicy();
    const idle = { spun: 0.004, parked: 0.05 };
    const busy = { spun: 0.16, parked: 0.05 };
    for (let turn = 0; turn < 3; turn++) {
      run(idle, 10 * LEARNING);
      expect(run(idle, LEARNING)).toBeGreaterThan(0.9);
      run(busy, LEARNING);
      expect(run(busy, LEARNING)).toBeLessThan(0.1);
    }
  });

  test("is not misled by batches that alternate with its blocks", () => {
    for (const batch of [17, 65, 100, 128]) {
      const { run } = createPolicy();
      run({ spun: 0.13, parked: 0.13, batch }, LEARNING * batch);
      expect(run({ spun: 0.13, parked: 0.13, batch }, 100 * batch)).toBeLessThan(0.5);
    }
  });

  test("for few calls where spins are quicker, but keep those from their core who make the calls", () => {
    const { run } = createPolicy();
    const server = { spun: 0.03, parked: 0.05, idle: (spins: boolean) => spins ? 0.05 : 0 };
    run(server, LEARNING);
    expect(run(server, 100_000)).toBeLessThan(0.05);
  });

  test("in bursts of calls with pauses, if the calls of a burst are quicker", () => {
    const bursts = [[50, 8], [300, 16], [1000, 30]];
    // A reading with a pause in it looks like long calls, so shorter bursts lose more than half of it.
    for (const [calls, pauseMs, share = 0.8] of [[10, 16, 0.35], ...bursts]) {
      const { state, run } = createPolicy();
      let spins = 0;
      for (let burst = 0; burst < 1000; burst++) {
        spins += run({ spun: 0.002, parked: 0.02 }, calls!);
        state.nowMs += pauseMs!;
      }
      expect(spins / 1000, `${calls} calls`).toBeGreaterThan(share);
    }
  });

  test("not for long where pauses or long tasks leave nothing to learn", () => {
    for (const machine of [{ spun: 0.004, parked: 0.05, idle: 5 }, { spun: 10, parked: 10.05 }]) {
      const { run } = createPolicy();
      run(machine, LEARNING);
      expect(run(machine, 100_000)).toBeLessThan(0.1);
    }
  });

  test("not where calls take milliseconds, from the second reading on", () => {
    const { run } = createPolicy();
    expect(run({ spun: 3, parked: 3.05 }, 1000)).toBe(0);
  });

  test("unless spins may last as long", () => {
    expect(createPolicy(1).run({ spun: 2, parked: 3 }, 1000)).toBeGreaterThan(0.9);
  });

  test("again as soon as calls are short after long ones", () => {
    const { run } = createPolicy();
    run({ spun: 3, parked: 3.05 }, 1000);
    expect(run({ spun: 0.002, parked: 0.02 }, 100)).toBeGreaterThan(0.9);
  });

  test("is not asked of a pool whose threads never spin", () => {
    const { state, run } = createPolicy(0);
    const { readings } = state;
    expect(run({ spun: 0.004, parked: 0.05 }, LEARNING)).toBe(0);
    expect(state.readings).toBe(readings);
  });

  test("reads the clock once for 16 calls at most", () => {
    const { state, run } = createPolicy();
    run({ spun: 0.004, parked: 0.05 }, 200_000);
    // Blocks of a trial read it for each call when they are about to end.
    expect(state.readings).toBeLessThan(200_000 / 16 * 1.5);
  });
});
