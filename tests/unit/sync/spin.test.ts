/** When a thread spins and when it sleeps at once, by a clock that moves when it is read. */
import { describe, expect, test } from "vitest";
import { Spin } from "../../../src/sync/spin.ts";
import { SpinInTurns } from "../../../src/sync/spin-in-turns.ts";

const MAX_MS = 0.1;
const MAX_SKIPPED = 127;
const TICK_MS = 0.001;

function createSpin(maxMs = MAX_MS) {
  const state = { nowMs: 1000, readyAtMs: Infinity, canContinue: true };
  const options = {
    isReady: () => state.nowMs >= state.readyAtMs,
    canContinue: () => state.canContinue,
    pause: () => {},
    now: () => state.nowMs += TICK_MS,
  };
  const spin = new Spin(options, maxMs);
  const spinInTurns = new SpinInTurns(options, maxMs);
  /** One wait for what comes after so long. */
  const wait = (afterMs: number): { came: boolean; tookMs: number } => {
    const from = state.nowMs;
    state.readyAtMs = from + afterMs;
    const came = spin.spin();
    return { came, tookMs: state.nowMs - from };
  };
  /** How many waits it sleeps through until it spins again, and that spin fails. */
  const skipped = (): number => {
    for (let waits = 0;; waits++) if (wait(Infinity).tookMs > 0) return waits;
  };
  /** Turns of the event loop in which it looks, in one wait; it ends the wait in the turn `until`. */
  const turns = (until = Infinity): number => {
    for (let turn = 0;; turn++) {
      if (turn === until) {
        spinInTurns.end();
        return turn;
      }
      if (!spinInTurns.again()) return turn;
    }
  };
  return { state, spinInTurns, wait, skipped, turns };
}

describe("a spin", () => {
  test("goes on while what is awaited comes in time", () => {
    const { wait } = createSpin();
    for (let n = 0; n < 1000; n++) expect(wait(n % 2 === 0 ? 0 : 0.09).came).toBe(true);
  });

  test("ends after its longest time", () => {
    const { came, tookMs } = createSpin().wait(Infinity);
    expect(came).toBe(false);
    expect(tookMs).toBeGreaterThan(MAX_MS * 0.9);
    expect(tookMs).toBeLessThan(MAX_MS * 1.2);
  });

  test("that fails is followed by waits without one: twice as many each time, up to a limit", () => {
    const { skipped } = createSpin();
    expect(Array.from({ length: 10 }, skipped)).toEqual(
      [0, 1, 3, 7, 15, 31, 63, MAX_SKIPPED, MAX_SKIPPED, MAX_SKIPPED],
    );
  });

  test("that succeeds is followed by others, however many have failed before", () => {
    const { wait, skipped } = createSpin();
    for (let n = 0; n < 5; n++) skipped();
    while (!wait(0).came);
    for (let n = 0; n < 100; n++) expect(wait(0.05).came).toBe(true);
    expect([skipped(), skipped(), skipped()]).toEqual([0, 1, 3]);
  });

  test("stops where it may not go on, and that is no failure", () => {
    const { state, wait } = createSpin();
    state.canContinue = false;
    for (let n = 0; n < 100; n++) expect(wait(0)).toEqual({ came: false, tookMs: 0 });
    state.canContinue = true;
    expect(wait(0).came).toBe(true);
  });

  test("takes what comes while the clock is read", () => {
    const { wait } = createSpin();
    expect(wait(MAX_MS + TICK_MS).came).toBe(true);
  });

  test("ends although the clock stands still", () => {
    const spin = new Spin({
      isReady: () => false,
      canContinue: () => true,
      pause: () => {},
      now: () => 0,
    }, MAX_MS);
    expect(spin.spin()).toBe(false);
  });

  test("does not happen with a limit of 0", () => {
    const { wait } = createSpin(0);
    for (let n = 0; n < 1000; n++) expect(wait(0)).toEqual({ came: false, tookMs: 0 });
  });
});

describe("a spin in turns of the event loop", () => {
  test("ends after its longest time, and is followed by waits without one", () => {
    const { turns } = createSpin();
    expect(turns()).toBeCloseTo(MAX_MS / TICK_MS, -1);
    const waits = Array.from({ length: 12 }, () => turns() > 0);
    expect(waits.map(Number).join("")).toBe("010001000000");
  });

  test("that has succeeded is followed by others", () => {
    const { spinInTurns, turns } = createSpin();
    turns();
    turns();
    expect(turns(5)).toBe(5);
    expect(spinInTurns.turns).toBe(0);
    for (let n = 0; n < 100; n++) expect(turns(5)).toBe(5);
  });

  test("stops where it may not go on, and that is no failure", () => {
    const { state, turns } = createSpin();
    state.canContinue = false;
    for (let n = 0; n < 100; n++) expect(turns()).toBe(0);
    state.canContinue = true;
    expect(turns(5)).toBe(5);
  });

  test("never begins with a longest time of 0, and ends although the clock stands still", () => {
    expect(createSpin(0).turns()).toBe(0);
    const spin = new SpinInTurns({ canContinue: () => true, now: () => 1000 }, MAX_MS);
    let turns = 0;
    while (spin.again()) turns++;
    expect(turns).toBeLessThan(10_000);
  });
});
