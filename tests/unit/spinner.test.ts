/** Spinning only as long as it is of use, by a clock that moves with each look. */
import { describe, expect, test } from "vitest";
import { CAME, MAY_COME, OUT_OF_PATIENCE } from "../../src/park/patience.ts";
import { CAME_SOON, FUTILE, Spinner, type SpinOutcome } from "../../src/park/spinner.ts";

const USUAL_MS = 0.05;
/** Misses in a row after which a thread sleeps at once, what is soon after another, and how often and long it tries. */
const MISSES = 8;
const SOON_MS = 2;
const TRY_PAUSE_MS = 3;
const TRY_SPINS = 3;
/** Patience that a try may get, and the pauses between. */
const GIVEN_MS = 5;
const LEAST_PAUSE_MS = 6;
const MOST_PAUSE_MS = 100;
/** A call for which both sides sleep at once. */
const SLEEP_MS = 0.015;

function createSpinner() {
  const state = { nowMs: 1000, readyAtMs: Infinity };
  const spinner = new Spinner({
    isReady: () => state.nowMs >= state.readyAtMs,
    mayGoOn: () => true,
    pause: () => {},
    now: () => state.nowMs += 0.001,
  }, USUAL_MS);
  /** One wait, which ends with a sleep if nothing comes while it spins. */
  const wait = (sleepMs = SLEEP_MS): { outcome: SpinOutcome; tookMs: number } => {
    const from = state.nowMs;
    let outcome = spinner.spin(USUAL_MS);
    while (outcome === MAY_COME) outcome = spinner.spin(USUAL_MS);
    const tookMs = state.nowMs - from;
    if (outcome === OUT_OF_PATIENCE || outcome === FUTILE) {
      spinner.endWait();
      state.nowMs += sleepMs;
    }
    return { outcome, tookMs };
  };
  const waits = (count: number, sleepMs?: number) =>
    Array.from({ length: count }, () => wait(sleepMs).outcome);
  /** One after the other until spinning is given up; how many were in vain, and the time they took. */
  const giveUp = (): { misses: number; tookMs: number } => {
    let misses = 0;
    let tookMs = 0;
    for (;;) {
      const { outcome, tookMs: ms } = wait();
      if (outcome === FUTILE) return { misses, tookMs };
      misses++;
      tookMs += ms;
    }
  };
  return { spinner, state, wait, waits, giveUp };
}

describe("a spinner", () => {
  test("what comes soon is spun for, always", () => {
    const { state, wait } = createSpinner();
    for (let n = 0; n < 1000; n++) {
      state.readyAtMs = state.nowMs + USUAL_MS / 2;
      expect(wait().outcome).toBe(CAME_SOON);
    }
  });

  test("gives up after some waits in vain, one soon after the other, and tries now and then", () => {
    const { state, giveUp, wait } = createSpinner();
    expect(giveUp().misses).toBe(MISSES);
    const from = state.nowMs;
    const tries: number[] = [];
    while (state.nowMs < from + LEAST_PAUSE_MS - 0.1) {
      const { outcome, tookMs } = wait();
      if (outcome === FUTILE) expect(tookMs).toBeLessThan(0.01); // a look at the clock
      else tries.push(tookMs);
    }
    expect(tries).toHaveLength(1);
    // What is waited for may have to be woken.
    expect(tries[0]).toBeGreaterThan(TRY_SPINS * USUAL_MS);
    expect(tries[0]).toBeLessThan(TRY_SPINS * USUAL_MS + 0.2);
  });

  test("spins again as soon as a try succeeds", () => {
    const { state, waits, giveUp, wait } = createSpinner();
    giveUp();
    state.readyAtMs = 0;
    const outcomes = waits(Math.ceil(TRY_PAUSE_MS / SLEEP_MS) + 10);
    const first = outcomes.indexOf(CAME_SOON);
    expect(outcomes.slice(0, first)).toEqual(new Array(first).fill(FUTILE));
    expect(first * SLEEP_MS).toBeGreaterThan(TRY_PAUSE_MS * 0.8);
    expect(outcomes.slice(first)).not.toContain(FUTILE);
    expect(waits(100)).toEqual(new Array(100).fill(CAME_SOON));
    state.readyAtMs = Infinity;
    expect(wait().outcome).toBe(OUT_OF_PATIENCE);
    expect(giveUp().misses).toBe(MISSES - 1);
  });

  test("calls that come rarely are spun for, however often that is in vain", () => {
    const { waits, giveUp } = createSpinner();
    expect(waits(100, SOON_MS)).not.toContain(FUTILE);
    giveUp();
    // The first of them comes soon after the last of the others.
    expect(waits(100, SOON_MS).slice(1)).not.toContain(FUTILE);
  });

  test("what came late, but while the thread was patient, was not in vain", () => {
    const { state, wait } = createSpinner();
    for (let n = 0; n < 3 * MISSES; n++) {
      state.readyAtMs = state.nowMs + 0.2;
      expect(wait().outcome).toBe(CAME);
    }
  });

  test("a wait that goes on after a turn of the event loop is one wait, and not given up within", () => {
    const { state, waits, giveUp, wait, spinner } = createSpinner();
    giveUp();
    waits(2 * LEAST_PAUSE_MS / SLEEP_MS); // by then a try has got patience
    const before = state.nowMs;
    while (wait().tookMs < GIVEN_MS / 2);
    expect(state.nowMs - before).toBeGreaterThan(GIVEN_MS);
    expect(wait().outcome).toBe(FUTILE); // it counted once, and as one soon after the last
    expect(spinner.spin(USUAL_MS, true)).toBe(OUT_OF_PATIENCE);
    const { spinner: fresh } = createSpinner();
    for (let piece = 0; piece < 4; piece++) expect(fresh.spin(USUAL_MS)).toBe(MAY_COME);
    expect(fresh.spin(USUAL_MS)).toBe(OUT_OF_PATIENCE);
  });

  test("tries get patience now and then, ever more rarely, and little of the time altogether", () => {
    const { state, wait, giveUp } = createSpinner();
    giveUp();
    const from = state.nowMs;
    const given: number[] = [];
    while (state.nowMs < from + 2000) {
      const { tookMs } = wait();
      if (tookMs > GIVEN_MS / 2) given.push(state.nowMs - tookMs - from);
      expect(tookMs).toBeLessThan(GIVEN_MS + (TRY_SPINS + 5) * USUAL_MS + 0.2);
    }
    expect(given[0]).toBeGreaterThan(LEAST_PAUSE_MS * 0.9);
    expect(given[0]).toBeLessThan(LEAST_PAUSE_MS + 2 * TRY_PAUSE_MS);
    const pauses = given.slice(1).map((at, index) => at - given[index]!);
    expect(pauses[0]).toBeLessThan(2 * LEAST_PAUSE_MS + 2 * TRY_PAUSE_MS);
    expect(Math.max(...pauses)).toBeGreaterThan(MOST_PAUSE_MS * 0.9);
    expect(Math.max(...pauses)).toBeLessThan(MOST_PAUSE_MS + 2 * TRY_PAUSE_MS);
    expect(given.length).toBeLessThan(2000 / MOST_PAUSE_MS + 6);
    expect(given.length).toBeGreaterThan(2000 / MOST_PAUSE_MS - 4);
  });

  test("what is urgent is spun for as long as usual, whatever has been learnt", () => {
    const { spinner, state, giveUp, wait } = createSpinner();
    giveUp();
    for (let n = 0; n < 200; n++) {
      const from = state.nowMs;
      expect(spinner.spin(USUAL_MS, true)).toBe(OUT_OF_PATIENCE);
      expect(state.nowMs - from).toBeGreaterThan(USUAL_MS * 0.9);
      expect(state.nowMs - from).toBeLessThan(USUAL_MS + 0.2);
      state.nowMs += SLEEP_MS;
    }
    const fresh = createSpinner();
    for (let n = 0; n < 100; n++) fresh.spinner.spin(USUAL_MS, true);
    expect(fresh.wait().outcome).toBe(OUT_OF_PATIENCE);
    expect(wait().outcome).not.toBe(MAY_COME);
  });
});
