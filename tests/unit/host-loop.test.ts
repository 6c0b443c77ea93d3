/** When a host that waits gives calls behind others to another worker. */
import { describe, expect, test } from "vitest";
import { HostLoop, type HostWork } from "../../src/host/host-loop.ts";
import { ANSWERED, NEAR } from "../../src/host/lanes.ts";
import { AT_EASE, NOTHING, OVERDUE, STUCK, type Urgency } from "../../src/host/relief.ts";
import { ActiveCount } from "../../src/park/active-count.ts";
import { HostParker } from "../../src/park/host-word.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";

interface Waiting {
  readonly asked: Urgency[];
  /** Timers that run, by their callbacks. */
  readonly timers: (() => void)[];
  /** Has one answer come. */
  answer(): void;
}

/** A host with one worker awake, and calls that wait in it, which has waited in vain for an answer. */
function waitIn(cores: number): Waiting {
  const asked: Urgency[] = [];
  const timers: (() => void)[] = [];
  const next: (() => void)[] = [];
  const run = (): void => {
    for (let callback = next.shift(); callback !== undefined; callback = next.shift()) callback();
  };
  let answers = 0;
  let nowMs = 0;
  const work: HostWork = {
    isBusy: true,
    isCrowded: true,
    hasQueued: false,
    drain: () => answers === 0 ? 0 : answers--,
    hasResponse: () => answers > 0,
    hasSpace: () => false,
    flush: () => {},
    askForSpace: () => {},
    onPark: () => {},
    onIdle: () => {},
    outlook: () => answers > 0 ? ANSWERED : NEAR,
    relieve: (urgency) => {
      asked.push(urgency);
      return NOTHING;
    },
  };
  const active = new ActiveCount([ActiveCount.create()], cores);
  active.add(1);
  const later = (callback: () => void) => {
    timers.push(callback);
    return { ref: () => {}, unref: () => {}, clear: () => {} };
  };
  const loop = new HostLoop(
    {
      ...currentRuntime,
      now: () => nowMs += 0.01,
      microtask: (callback) => void next.push(callback),
      soon: (callback) => void next.push(callback),
      setTimeout: later,
    },
    new HostParker(new Int32Array(new SharedArrayBuffer(128)), 0),
    active,
    work,
    0.05,
  );
  loop.kick();
  run();
  expect(loop.isParked).toBe(true);
  const answer = (): void => {
    answers = 1;
    loop.onWakeMessage();
    run();
  };
  return { asked, timers, answer };
}

describe("a host that has spun in vain", () => {
  test("has calls moved at once where another worker has a core", () => {
    expect(waitIn(4).asked).toEqual([STUCK]);
  });

  test("waits a millisecond where it has none: the first may be late for want of one", () => {
    const { asked, timers } = waitIn(2);
    expect(asked).toEqual([AT_EASE]);
    expect(timers).toHaveLength(1);
    timers[0]!();
    expect(asked).toEqual([AT_EASE, STUCK]);
  });

  test("does not wait for ever, whatever others answer", () => {
    const { asked, timers, answer } = waitIn(2);
    for (let look = 0; look < 10; look++) {
      expect(asked).not.toContain(OVERDUE);
      answer();
      timers[look]!();
    }
    expect(asked).toContain(OVERDUE);
    expect(asked).not.toContain(STUCK);
  });

  test("waits another one for each in which answers came", () => {
    const { asked, timers, answer } = waitIn(2);
    answer();
    expect(timers).toHaveLength(1);
    timers[0]!();
    expect(asked).not.toContain(STUCK);
    expect(timers).toHaveLength(2);
    timers[1]!();
    expect(asked.at(-1)).toBe(STUCK);
  });
});
