/**
 * Order of shared stores and loads. x86-64 hides a missing ordering, and so do schedules explored one
 * atomic operation at a time; these tests look at what is in memory when something is published, and
 * at what is looked at after a park is announced.
 */
import { describe, expect, test } from "vitest";
import {
  CALL,
  DESCRIPTOR_WORD,
  kindOf,
  RESULT,
  RESULT_NUMBER,
  SLOT_WORD,
  THROWN,
} from "../../src/lane/frame.ts";
import {
  CONTROL_BYTES,
  FOR_CALLS,
  FOR_SPACE,
  FOR_TASKS,
  LOOP_PARKS,
  PARKED_WORD,
  REQUEST_RING,
  REQUEST_SPACE,
  RESPONSE_BACKLOG,
  responseRing,
  WAITS_FOR,
  WANTS_SPACE,
} from "../../src/lane/layout.ts";
import { GaugeWriter } from "../../src/metering/worker-gauges.ts";
import { taskTimingsBytes } from "../../src/metering/task-timings.ts";

import { type HostWaiting, type HostWork, PollLoop } from "../../src/host/dispatch/poll-loop.ts";
import { PendingWork } from "../../src/host/calls/pending-work.ts";
import { LaneSet, READY, SPIN, type WaitHint } from "../../src/host/lanes/lane-set.ts";
import { AwakeCount } from "../../src/sync/awake-count.ts";
import { HostParker, HostWaker } from "../../src/sync/host-parking.ts";
import { SpaceFlag } from "../../src/sync/space-flag.ts";
import { IN_EVENT_LOOP, Parker, Waker } from "../../src/sync/worker-parking.ts";
import { HEAD_POSITION, RING_HEADER_BYTES, TAIL_POSITION } from "../../src/ring/ring-layout.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import { WorkerLoop } from "../../src/worker/loop.ts";
import { Replies } from "../../src/worker/replies.ts";
import type { WorkerCore } from "../../src/worker/worker-core.ts";
import { logAtomics, logAtomicsUntil, type NamedWord } from "../support/atomics-log.ts";
import { sendCall } from "../support/codec.ts";
import { createEndpoints, type EndpointPair } from "../support/endpoints.ts";
import { FakeLane } from "../support/lanes.ts";
import { pause } from "../support/runtime.ts";
import { createTestRing, push } from "../support/rings.ts";

const CAPACITY = 4096;

/** A host that spins as long as there is a core for it. */
function waiting(words: Int32Array<SharedArrayBuffer>, cores: number): HostWaiting {
  return {
    parker: new HostParker(words, 0),
    active: new AwakeCount([AwakeCount.create()], cores),
    policy: { spins: true, settled: () => {} },
    spinMs: 0.05,
  };
}

function tailOf(pair: EndpointPair, ring: "requests" | "responses"): NamedWord {
  const offset = ring === "requests" ? REQUEST_RING : responseRing(CAPACITY);
  return {
    name: `${ring}.tail`,
    words: new Int32Array(pair.lane, offset, 128),
    index: TAIL_POSITION,
  };
}

function headOf(pair: EndpointPair, ring: "requests" | "responses"): NamedWord {
  return { ...tailOf(pair, ring), name: `${ring}.head`, index: HEAD_POSITION };
}

describe("payload before publish", () => {
  test("no word of a record is written after the store that publishes it", () => {
    // Through the wrap, so that padding records are covered too.
    const { producer, consumer, header, records, buffer } = createTestRing(128, 0, 128);
    for (let value = 1; value <= 50; value++) {
      let published: number[] = [];
      logAtomics([{
        name: "tail",
        words: header,
        index: TAIL_POSITION,
        before: (operation) => {
          if (operation === "store") published = [...records];
        },
      }], () => push(producer, value, 1 + (value % 7)));
      expect(published).toEqual([...new Int32Array(buffer, RING_HEADER_BYTES)]);
      expect(published).toContain(value);
      consumer.poll();
      consumer.release();
      consumer.publish();
    }
  });

  test("frames are complete and payload messages posted when their record is published", () => {
    const values: [string, readonly unknown[]][] = [
      ["number", [1.5]],
      ["several", [1, "two", null, new Uint8Array(9)]],
      ["native string", ["x".repeat(500)]],
      ["object", [{ a: new Map([[1, 2]]) }]],
      ["too large", [new Uint8Array(CAPACITY)]],
      ["platform object", [{ shared: new SharedArrayBuffer(8) }]],
    ];
    for (const [name, args] of values) {
      const pair = createEndpoints(CAPACITY);
      const records = new Uint8Array(pair.lane, REQUEST_RING + RING_HEADER_BYTES, CAPACITY);
      const events: string[] = [];
      let published: number[] = [];
      pair.onPost = () => events.push("post");
      logAtomics([{
        ...tailOf(pair, "requests"),
        before: (operation) => {
          if (operation !== "store") return;
          events.push("publish");
          published = [...records];
        },
      }], () => {
        const outcome = sendCall(pair.host, args);
        if (typeof outcome === "boolean") return;
        expect(pair.host.sendSnapshot(CALL, 1, 2, 3, outcome)).toBe(true);
      });
      expect(published).toEqual([...records]);
      expect(events).toEqual(
        name === "too large" || name === "platform object" ? ["post", "publish"] : ["publish"],
      );
    }
  });
});

describe("publish before reading the parked word", () => {
  test("the host stores the tail, then reads the worker's parked word", () => {
    const pair = createEndpoints(CAPACITY);
    const parked = { name: "parked", words: pair.control, index: PARKED_WORD };
    const waker = new Waker(pair.control, PARKED_WORD, () => {});
    const log = logAtomics([tailOf(pair, "requests"), parked], () => {
      sendCall(pair.host, [1]);
      waker.wake();
    });
    expect(log).toEqual(["store requests.tail=32", "load parked"]);
  });

  test("the worker stores the tail, then reads the host's parked word", () => {
    const pair = createEndpoints(CAPACITY);
    const words = new Int32Array(new SharedArrayBuffer(128));
    const replies = new Replies(
      pair.worker,
      new HostWaker(words, 0, () => {}),
      new SpaceFlag(pair.control, WANTS_SPACE),
      new SpaceFlag(pair.control, REQUEST_SPACE),
      pair.control,
    );
    const log = logAtomics(
      [tailOf(pair, "responses"), { name: "host", words, index: 0 }],
      () => {
        replies.result(0, 0, 1);
        replies.result(0, 0, { an: "object" });
        replies.thrown(0, 0, new Error("e"));
      },
    );
    const published = log.filter((entry) => entry.startsWith("store responses.tail"));
    expect(published).toHaveLength(3);
    for (const entry of published) expect(log[log.indexOf(entry) + 1]).toBe("load host");
  });

  test("the worker publishes its backlog, then clears the backlog flag, then stores the count", () => {
    const pair = createEndpoints(CAPACITY);
    const replies = new Replies(
      pair.worker,
      new HostWaker(new Int32Array(new SharedArrayBuffer(128)), 0, () => {}),
      new SpaceFlag(pair.control, WANTS_SPACE),
      new SpaceFlag(pair.control, REQUEST_SPACE),
      pair.control,
    );
    const backlog = (): number => Atomics.load(pair.control, RESPONSE_BACKLOG);
    while (pair.worker.sendNumber(0, 0, RESULT_NUMBER, 0, 1));
    const named = [
      tailOf(pair, "responses"),
      { name: "backlog", words: pair.control, index: RESPONSE_BACKLOG },
    ];
    const snapshot = logAtomics(named, () => {
      for (let n = 0; n < 3; n++) replies.result(0, 0, n);
    });
    expect(snapshot).toEqual(["store backlog=1", "store backlog=2", "store backlog=3"]);
    while (pair.host.rx.poll() >= 0) pair.host.rx.release();
    const log = logAtomics(named, () => replies.flush());
    expect(log.filter((entry) => entry.startsWith("store"))).toEqual([
      ...Array.from({ length: 3 }, () => expect.stringMatching(/^store responses\.tail/)),
      "store backlog=0",
    ]);
    // One that turns out to be impossible to send keeps its place.
    while (pair.host.rx.poll() >= 0) pair.host.rx.release();
    while (pair.worker.sendNumber(0, 0, RESULT_NUMBER, 0, 1));
    replies.result(1, 0, { shared: new SharedArrayBuffer(8) });
    replies.result(2, 0, 5);
    expect(backlog()).toBe(2);
    while (pair.host.rx.poll() >= 0) pair.host.rx.release();
    pair.onPost = () => {
      pair.onPost = () => {}; // the error may be too large for so small a ring
      throw new TypeError("refused");
    };
    expect(replies.flush()).toBe(true);
    const answers: (readonly [slot: number, kind: number])[] = [];
    const { i32 } = pair.host.rx.memory;
    for (let at = pair.host.rx.poll() >> 2; at >= 0; at = pair.host.rx.poll() >> 2) {
      answers.push([i32[at + SLOT_WORD]!, kindOf(i32[at + DESCRIPTOR_WORD]!)]);
      pair.host.rx.release();
    }
    expect(answers).toEqual([[1, THROWN], [2, RESULT]]);
    expect(backlog()).toBe(0);
  });
});

describe("announce, then check again", () => {
  test("a host parks only after a check that follows the announcement", () => {
    const words = new Int32Array(new SharedArrayBuffer(128));
    const log: string[] = [];
    let parks = 0;
    let nowMs = 0;
    const next: (() => void)[] = [];
    const note = (what: string) => log.push(`${what}, announced: ${Atomics.load(words, 0)}`);
    class NearLanes extends LaneSet {
      override get isBusy(): boolean {
        return true;
      }
      override get hasResponse(): boolean {
        note("look");
        return false;
      }
      override waitHint(): WaitHint {
        note("look");
        return SPIN;
      }
      override requestSpace(): void {
        note("ask");
      }
      override get isCrowded(): boolean {
        return true;
      }
    }
    const lanes = new NearLanes();
    for (const id of [0, 1]) {
      const lane = new FakeLane({ id });
      lanes.move(lane, "preparing");
      lanes.move(lane, "open");
    }
    const work: HostWork = {
      lanes,
      pending: Object.assign(new PendingWork(), { isDue: true }),
      inFlight: { size: 1 },
      hasQueued: true,
      doBookkeeping: () => {},
      drain: () => 0,
      flush: () => {
        note("look for space");
        return false;
      },
      rebalance: () => {
        note("look for a free worker");
        return false;
      },
      onPark: () => parks++,
      onIdle: () => {},
    };
    const loop = new PollLoop(
      {
        ...currentRuntime,
        now: () => nowMs += 0.01,
        microtask: (callback) => void next.push(callback),
        macrotask: (callback) => void next.push(callback),
      },
      waiting(words, 1),
      work,
    );
    loop.kick();
    for (let callback = next.shift(); callback !== undefined; callback = next.shift()) callback();
    expect(parks).toBe(1);
    expect(log.slice(-4)).toEqual([
      "ask, announced: 1",
      "look, announced: 1",
      "look for space, announced: 1",
      "look for a free worker, announced: 1",
    ]);
  });

  test("a host that finds a response in that check does not park", () => {
    const words = new Int32Array(new SharedArrayBuffer(128));
    let parks = 0;
    const microtasks: (() => void)[] = [];
    /** The answer comes when the park has been announced. */
    class AnsweringLanes extends LaneSet {
      override get isBusy(): boolean {
        return true;
      }
      override get hasResponse(): boolean {
        return Atomics.load(words, 0) === 1;
      }
      override waitHint(): WaitHint {
        return this.hasResponse ? READY : SPIN;
      }
    }
    const loop = new PollLoop(
      { ...currentRuntime, microtask: (callback) => void microtasks.push(callback) },
      waiting(words, 0),
      {
        lanes: new AnsweringLanes(),
        pending: new PendingWork(),
        inFlight: { size: 0 },
        hasQueued: false,
        doBookkeeping: () => {},
        drain: () => 0,
        flush: () => false,
        rebalance: () => false,
        onPark: () => parks++,
        onIdle: () => {},
      },
    );
    loop.kick();
    microtasks.shift()!();
    expect(parks).toBe(0);
    expect(Atomics.load(words, 0)).toBe(0);
    expect(microtasks).toHaveLength(1);
  });

  /** A worker loop that finds nothing to do, with `cores` to spin on. */
  function idleLoop(
    pair: EndpointPair,
    cores: number,
    f: (value: unknown) => unknown = (value) => value,
    maxConcurrency = 4,
    { runtime = currentRuntime, spinMs = 0.05, hostSpins = 1 } = {},
  ): WorkerLoop {
    const core = {
      runtime,
      endpoint: pair.worker,
      replies: new Replies(
        pair.worker,
        new HostWaker(new Int32Array(new SharedArrayBuffer(128)), 0, () => {}),
        new SpaceFlag(pair.control, WANTS_SPACE),
        new SpaceFlag(pair.control, REQUEST_SPACE),
        pair.control,
      ),
      control: pair.control,
      gauges: new GaugeWriter(new SharedArrayBuffer(CONTROL_BYTES)),
      start: {
        hostControl: Int32Array.of(0, hostSpins).buffer,
        maxConcurrency,
        spinMs,
        taskTimings: new SharedArrayBuffer(taskTimingsBytes(8)),
      },
      site: {
        parent: { isTerminating: () => false },
        crash: (error: unknown) => {
          throw error;
        },
      },
      tasks: [{
        f,
        mayBorrow: false,
        index: 0,
        signature: undefined,
        hasSignal: false,
        isStream: false,
        highWaterMark: 1,
        emits: false,
        wraps: [],
        inline: undefined,
      }],
      wraps: [],
    };
    const active = new AwakeCount([AwakeCount.create()], cores);
    const parker = new Parker(pair.control, PARKED_WORD);
    return new WorkerLoop(core as unknown as WorkerCore, parker, active, () => {});
  }

  test("a worker checks its ring after announcing the block and after announcing the event loop", () => {
    const pair = createEndpoints(CAPACITY);
    const loop = idleLoop(pair, 1);
    const parked = { name: "parked", words: pair.control, index: PARKED_WORD };
    const log = logAtomics([tailOf(pair, "requests"), parked], () => loop.start());
    const blocks = log.indexOf("store parked=1");
    const waits = log.findIndex((entry) => entry.startsWith("wait parked"));
    const parks = log.indexOf("store parked=2");
    expect(log.slice(blocks + 1, waits)).toContain("load requests.tail");
    expect(log.slice(parks + 1)).toContain("load requests.tail");
    expect(waits).toBeGreaterThan(blocks);
    expect(parks).toBeGreaterThan(waits);
    expect(Atomics.load(pair.control, WAITS_FOR)).toBe(FOR_CALLS);
  });

  test("a worker with a task in flight looks in further turns only where threads spin", async () => {
    for (
      const [cores, given] of [[2, {}], [0, {}], [2, { spinMs: 0 }], [2, { hostSpins: 0 }]] as const
    ) {
      const pair = createEndpoints(CAPACITY);
      const turns: (() => void)[] = [];
      const runtime = { ...currentRuntime, macrotask: (turn: () => void) => void turns.push(turn) };
      const pending = new Promise(() => {});
      const loop = idleLoop(pair, cores, () => pending, 4, { runtime, ...given });
      sendCall(pair.host, [1]);
      loop.start();
      await pause(1);
      const spins = cores === 2 && Object.keys(given).length === 0;
      expect(turns.length).toBe(spins ? 1 : 0);
      // The spin ends after its time, and the worker parks.
      const endMs = currentRuntime.now() + 1;
      while (currentRuntime.now() < endMs);
      turns[0]?.();
      expect(turns.length).toBe(spins ? 1 : 0);
      expect(Atomics.load(pair.control, PARKED_WORD)).toBe(IN_EVENT_LOOP);
    }
  });

  test("a worker that finds a record after an announcement runs it instead of waiting", () => {
    for (const announced of [1, 2]) {
      const pair = createEndpoints(CAPACITY);
      const loop = idleLoop(pair, 1);
      let sent = 0;
      const log = logAtomics([{
        name: "parked",
        words: pair.control,
        index: PARKED_WORD,
        before: (operation, value) => {
          // The host sends between the last look and the announcement: its own load comes too early.
          if (operation === "store" && value === announced && sent++ === 0) {
            sendCall(pair.host, [42]);
          }
        },
      }], () => loop.start());
      const index = pair.host.rx.poll();
      expect(index).toBeGreaterThanOrEqual(0);
      expect(pair.host.readValues(index, pair.host.rx.memory.i32[(index >> 2) + 4]!)).toEqual([42]);
      const announce = log.indexOf(`store parked=${announced}`);
      expect(log[announce + 1]).toBe(`compareExchange parked=${announced},0`);
    }
  });

  test("a parked worker that takes calls again stores its state, then checks whether the host waits for it", async () => {
    const pair = createEndpoints(CAPACITY);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const loop = idleLoop(pair, 1, () => promise, 1);
    sendCall(pair.host, [1]);
    loop.start();
    const { control } = pair;
    const loopParks = (): number => Atomics.load(control, LOOP_PARKS);
    while (Atomics.load(control, PARKED_WORD) !== IN_EVENT_LOOP) await pause(1);
    expect(loopParks()).toBe(1);
    expect(Atomics.load(control, WAITS_FOR)).toBe(FOR_TASKS);
    new SpaceFlag(control, REQUEST_SPACE).raise();
    const words = [
      { name: "tail", words: tailOf(pair, "responses").words, index: TAIL_POSITION },
      { name: "waitsFor", words: control, index: WAITS_FOR },
      { name: "flag", words: control, index: REQUEST_SPACE },
      { name: "loopParks", words: control, index: LOOP_PARKS },
    ];
    const log = await logAtomicsUntil(words, async () => {
      resolve(2);
      await promise;
    });
    const writes = log.filter((entry) => !entry.startsWith("load") || entry === "load flag");
    expect(writes).toEqual([
      "add loopParks=1",
      expect.stringMatching(/^store tail=/),
      "add loopParks=1",
      `store waitsFor=${FOR_CALLS}`,
      "load flag",
      "compareExchange flag=1,0",
    ]);
    expect(Atomics.load(control, REQUEST_SPACE)).toBe(0);
    expect([Atomics.load(control, PARKED_WORD), loopParks() % 2]).toEqual([IN_EVENT_LOOP, 1]);
  });

  test("a worker without space announces its park, sets its flag, then checks again", () => {
    const pair = createEndpoints(CAPACITY);
    while (pair.worker.sendNumber(0, 0, RESULT_NUMBER, 0, 1));
    expect(sendCall(pair.host, [2])).toBe(true);
    const loop = idleLoop(pair, 1);
    const named = [
      headOf(pair, "responses"),
      { name: "flag", words: pair.control, index: WANTS_SPACE },
      { name: "parked", words: pair.control, index: PARKED_WORD },
    ];
    const log = logAtomics(named, () => loop.start());
    for (const announced of [1, 2]) {
      const from = log.indexOf(`store parked=${announced}`);
      const raised = log.indexOf("store flag=1", from);
      const looked = log.indexOf("load responses.head", raised);
      const waits = announced === 1
        ? log.findIndex((entry) => entry.startsWith("wait parked"))
        : log.length;
      expect([from >= 0, from < raised, raised < looked, looked < waits]).toEqual([
        true,
        true,
        true,
        true,
      ]);
    }
    expect(Atomics.load(pair.control, WAITS_FOR)).toBe(FOR_SPACE);
    // The host makes room, finds the flag, and the worker's answer gets through.
    while (pair.host.rx.poll() >= 0) if (pair.host.rx.release()) break;
    expect(new SpaceFlag(pair.control, WANTS_SPACE).take()).toBe(true);
    loop.onWakeMessage();
    while (pair.host.rx.poll() >= 0) pair.host.rx.release();
    expect(Atomics.load(pair.control, WAITS_FOR)).toBe(FOR_CALLS);
  });
});
