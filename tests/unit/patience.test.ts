/** Spinning on for those who have been busy, by a clock that moves with each look. */
import { describe, expect, test } from "vitest";
import { CAME, MAY_COME, OUT_OF_PATIENCE, Patience } from "../../src/park/patience.ts";

const USUAL_MS = 0.05;
/** What a thread begins with, what it may keep, spin at once, and for one wait; what a quick wait earns. */
const FIRST_CREDIT_MS = 10;
const MOST_CREDIT_MS = 50;
const AT_ONCE_MS = 1;
const WAIT_MS = 5;
const EARNED_MS = 0.01;
/** What is left after an interruption. */
const LEFT_MS = 5;
/** What the system gives to another thread at once. */
const INTERRUPTION_MS = 3;

function createPatience(usualMs = USUAL_MS) {
  const state = { nowMs: 1000, readyAtMs: Infinity, mayGoOn: true, interruptedAtMs: Infinity };
  const now = (): number => {
    state.nowMs += 0.001;
    if (state.nowMs < state.interruptedAtMs) return state.nowMs;
    state.interruptedAtMs = Infinity;
    return state.nowMs += INTERRUPTION_MS;
  };
  const patience = new Patience({
    isReady: () => state.nowMs >= state.readyAtMs,
    mayGoOn: () => state.mayGoOn,
    pause: () => {},
    now,
  }, usualMs);
  const spinOn = (): { outcome: number; tookMs: number } => {
    const from = state.nowMs;
    const outcome = patience.spinOn();
    return { outcome, tookMs: state.nowMs - from };
  };
  return { patience, state, spinOn };
}

/** Spins on until there is no patience left; the milliseconds it took. */
function exhaust({ spinOn, patience }: ReturnType<typeof createPatience>): number {
  let totalMs = 0;
  for (;;) {
    let waitedMs = 0;
    for (let outcome: number = MAY_COME; outcome === MAY_COME;) {
      const spin = spinOn();
      waitedMs += spin.tookMs;
      outcome = spin.outcome;
    }
    if (waitedMs < 0.1) return totalMs;
    totalMs += waitedMs;
    patience.endWait();
  }
}

describe("patience", () => {
  test("a spin lasts a millisecond, a wait five", () => {
    const { spinOn } = createPatience();
    const outcomes: number[] = [];
    let totalMs = 0;
    do {
      const { outcome, tookMs } = spinOn();
      expect(tookMs).toBeLessThan(AT_ONCE_MS + 0.1);
      totalMs += tookMs;
      outcomes.push(outcome);
    } while (outcomes.at(-1) === MAY_COME);
    expect(outcomes.at(-1)).toBe(OUT_OF_PATIENCE);
    expect(totalMs).toBeGreaterThan(WAIT_MS * 0.9);
    expect(totalMs).toBeLessThan(WAIT_MS * 1.1);
  });

  test("a wait that ends quickly after all does not count for the next", () => {
    const { patience, spinOn } = createPatience();
    for (let n = 0; n < 3; n++) expect(spinOn().outcome).toBe(MAY_COME);
    patience.earn();
    let totalMs = 0;
    for (let outcome: number = MAY_COME; outcome === MAY_COME;) {
      const spin = spinOn();
      outcome = spin.outcome;
      totalMs += spin.tookMs;
    }
    expect(totalMs).toBeGreaterThan(WAIT_MS * 0.9);
  });

  test("ends when what it waits for comes, or when it must not go on", () => {
    const { spinOn, state } = createPatience();
    state.readyAtMs = state.nowMs + 0.3;
    const { outcome, tookMs } = spinOn();
    expect(outcome).toBe(CAME);
    expect(tookMs).toBeLessThan(0.4);
    state.readyAtMs = Infinity;
    state.mayGoOn = false;
    expect(spinOn().tookMs).toBeLessThan(0.1);
  });

  test("is used up, and earned again by waits that end quickly", () => {
    const all = createPatience();
    const { patience, spinOn } = all;
    const totalMs = exhaust(all);
    expect(totalMs).toBeGreaterThan(FIRST_CREDIT_MS * 0.9);
    expect(totalMs).toBeLessThan(FIRST_CREDIT_MS * 1.1);
    expect(spinOn().outcome).toBe(OUT_OF_PATIENCE);
    for (let n = 0; n < 50; n++) patience.earn();
    const { outcome, tookMs } = spinOn();
    expect(outcome).toBe(OUT_OF_PATIENCE);
    expect(tookMs).toBeGreaterThan(50 * EARNED_MS - 0.1);
    expect(tookMs).toBeLessThan(50 * EARNED_MS + 0.1);
  });

  test("there is a limit to what can be earned", () => {
    const all = createPatience();
    for (let n = 0; n < 100_000; n++) all.patience.earn();
    const totalMs = exhaust(all);
    expect(totalMs).toBeGreaterThan(MOST_CREDIT_MS * 0.9);
    expect(totalMs).toBeLessThan(MOST_CREDIT_MS * 1.1);
  });

  test("once the system has interrupted a spin little is left, whatever came: another thread wants the core", () => {
    const all = createPatience();
    const { patience, spinOn, state } = all;
    for (let n = 0; n < 4000; n++) patience.earn();
    state.interruptedAtMs = state.nowMs + 0.2;
    state.readyAtMs = state.nowMs + 0.3;
    expect(spinOn().outcome).toBe(CAME);
    state.readyAtMs = Infinity;
    const totalMs = exhaust(all);
    expect(totalMs).toBeGreaterThan(LEFT_MS * 0.9);
    expect(totalMs).toBeLessThan(LEFT_MS * 1.1);
  });

  test("whoever may not spin has none", () => {
    const { spinOn } = createPatience(0);
    expect(spinOn().outcome).toBe(OUT_OF_PATIENCE);
    expect(createPatience(0.01).spinOn().tookMs).toBeLessThan(0.25); // twenty usual spins
  });
});
