/** When a thread spins and when it sleeps at once, by a clock that moves with each look. */
import { describe, expect, test } from "vitest";
import { AdaptiveSpin } from "../../../src/sync/adaptive-spin.ts";

const SHORT_MS = 0.1;
/** Longest spin, most credit, and what a short wait earns. */
const MAX_SPIN_MS = 1;
const MAX_CREDIT_MS = 10;
const EARNED_MS = 0.01;
/** What the clock moves by when it is read. */
const TICK_MS = 0.001;

function createSpin(shortMs = SHORT_MS) {
  const state = { nowMs: 1000, readyAtMs: Infinity, canContinue: true, interruptedAtMs: Infinity };
  const spin = new AdaptiveSpin({
    isReady: () => state.nowMs >= state.readyAtMs,
    canContinue: () => state.canContinue,
    pause: () => {},
    now: () => {
      state.nowMs += TICK_MS;
      if (state.nowMs < state.interruptedAtMs) return state.nowMs;
      state.interruptedAtMs = Infinity;
      return state.nowMs += 3;
    },
  }, shortMs);
  /** One wait for what comes after so long. */
  const wait = (afterMs: number): { came: boolean; tookMs: number } => {
    const from = state.nowMs;
    state.readyAtMs = from + afterMs;
    const came = spin.spin();
    return { came, tookMs: state.nowMs - from };
  };
  return { spin, state, wait };
}

/** Milliseconds that a thread spins in vain before it sleeps at once. */
function spent({ wait }: ReturnType<typeof createSpin>): number {
  for (let totalMs = 0;;) {
    const { tookMs } = wait(Infinity);
    if (tookMs === 0) return totalMs;
    totalMs += tookMs;
  }
}

describe("adaptive spinning", () => {
  test("always spins if responses arrive soon", () => {
    const { wait } = createSpin();
    for (let n = 0; n < 1000; n++) expect(wait(n % 2 === 0 ? 0 : 0.09).came).toBe(true);
  });

  test("a new thread spins once, then sleeps immediately", () => {
    const { wait } = createSpin();
    const { came, tookMs } = wait(Infinity);
    expect(came).toBe(false);
    expect(tookMs).toBeGreaterThan(SHORT_MS * 0.9);
    expect(tookMs).toBeLessThan(SHORT_MS * 1.2);
    expect(wait(0)).toEqual({ came: false, tookMs: 0 });
  });

  test("short sleeps earn credit for the next spin, long ones do not", () => {
    const { spin, wait } = createSpin();
    wait(Infinity);
    for (let n = 0; n < 1000; n++) spin.slept(SHORT_MS * 1.1);
    expect(wait(0).came).toBe(false);
    for (let n = 0; n <= SHORT_MS / EARNED_MS; n++) spin.slept(SHORT_MS / 2);
    expect(wait(0).came).toBe(true);
  });

  test("spins for at most 1 ms and while the credit lasts", () => {
    const all = createSpin();
    for (let n = 0; n < 10_000; n++) all.wait(0);
    expect(all.wait(Infinity).tookMs).toBeLessThan(MAX_SPIN_MS * 1.1);
    const totalMs = MAX_SPIN_MS + spent(all);
    expect(totalMs).toBeGreaterThan(MAX_CREDIT_MS * 0.9);
    expect(totalMs).toBeLessThan(MAX_CREDIT_MS * 1.1);
    for (let n = 0; n < 30; n++) all.spin.slept(0);
    expect(spent(all)).toBeLessThan(31 * EARNED_MS * 1.1);
  });

  test("a successful long spin uses credit", () => {
    const all = createSpin();
    for (let n = 0; n < 100; n++) all.wait(0);
    let came = 0;
    while (all.wait(0.5).came) came++;
    expect(came).toBeGreaterThan(0);
    expect(came).toBeLessThan(4);
  });

  test("a preemption by the system clears the credit", () => {
    const { spin, state, wait } = createSpin();
    for (let n = 0; n < 1000; n++) wait(0);
    state.readyAtMs = Infinity;
    state.interruptedAtMs = state.nowMs + 0.02;
    expect(spin.spin()).toBe(false);
    expect(wait(0).tookMs).toBe(0);
  });

  test("stops without using credit if no core is free", () => {
    const { spin, state, wait } = createSpin();
    state.canContinue = false;
    for (let n = 0; n < 100; n++) expect(spin.spin()).toBe(false);
    state.canContinue = true;
    expect(wait(0).came).toBe(true);
  });

  test("never spins if the limit is 0", () => {
    const { spin, wait } = createSpin(0);
    for (let n = 0; n < 100; n++) spin.slept(0);
    expect(wait(0).came).toBe(false);
  });
});
