/** When a host that waits spins, and when it gives calls behind others to another worker. */
import { describe, expect, test } from "vitest";
import { HostLoop, type HostWork } from "../../src/host/host-loop.ts";
import { ALONE, ANSWERED, DISTANT, NEAR, type Outlook } from "../../src/host/lanes.ts";
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
    lanes: [undefined],
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
  Atomics.add(active.words[0]!, 0, 1);
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

interface Situation {
  readonly awake?: number;
  readonly isCrowded?: boolean;
}

/** How often a host looks for an answer that is `outlook` with so many workers, one of them awake, before it parks. */
function looks(
  outlook: Outlook,
  workers: number,
  cores: number,
  { awake = 1, isCrowded = false }: Situation = {},
): number {
  let found = 0;
  let nowMs = 0;
  const nothing = (): void => {};
  const no = (): boolean => false;
  const active = new ActiveCount([ActiveCount.create()], cores);
  for (let worker = 0; worker < awake; worker++) Atomics.add(active.words[0]!, 0, 1);
  const next: (() => void)[] = [];
  const loop = new HostLoop(
    {
      ...currentRuntime,
      now: () => nowMs += 0.01,
      microtask: (callback) => void next.push(callback),
      soon: (callback) => void next.push(callback),
    },
    new HostParker(new Int32Array(new SharedArrayBuffer(128)), 0),
    active,
    {
      isBusy: true,
      isCrowded,
      hasQueued: false,
      lanes: new Array(workers),
      drain: () => 0,
      hasResponse: () => ++found < 0,
      hasSpace: no,
      flush: nothing,
      askForSpace: nothing,
      onPark: nothing,
      onIdle: nothing,
      outlook: () => outlook,
      relieve: () => NOTHING,
    },
    0.05,
  );
  loop.kick();
  for (let callback = next.shift(); callback !== undefined; callback = next.shift()) callback();
  expect(loop.isParked).toBe(true);
  return found;
}

describe("a host that waits", () => {
  /** The look between the announcement of a park and the park. */
  const LAST_LOOK = 1;

  test("spins for answers that are near, and for none that are not", () => {
    expect(looks(NEAR, 1, 2)).toBeGreaterThan(LAST_LOOK);
    expect(looks(NEAR, 1, 1)).toBe(LAST_LOOK);
    expect(looks(DISTANT, 1, 2)).toBe(LAST_LOOK);
  });

  test("spins for a long call of one worker alone where every worker has a core beside it", () => {
    expect(looks(ALONE, 1, 2)).toBeGreaterThan(LAST_LOOK);
    expect(looks(ALONE, 3, 4)).toBeGreaterThan(LAST_LOOK);
    expect(looks(ALONE, 2, 2)).toBe(LAST_LOOK);
    expect(looks(ALONE, 4, 4)).toBe(LAST_LOOK);
    // Others could have what waits behind it.
    expect(looks(ALONE, 3, 4, { isCrowded: true })).toBe(LAST_LOOK);
    // The one that has the call may just be waking up, and does not count itself yet.
    expect(looks(ALONE, 1, 2, { awake: 0 })).toBeGreaterThan(LAST_LOOK);
    expect(looks(ALONE, 2, 2, { awake: 0 })).toBe(LAST_LOOK);
  });
});

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
