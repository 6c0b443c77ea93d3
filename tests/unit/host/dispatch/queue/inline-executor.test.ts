/** Calls that the host runs itself, one turn of the event loop after the other. */
import { describe, expect, test } from "vitest";
import { borrow, type Borrowed } from "../../../../../src/features/values/rare/kinds/borrow.ts";
import { f64, struct } from "../../../../../src/features/values/structs/schema/schema.ts";
import {
  type Signature,
  signatureOf,
} from "../../../../../src/features/values/structs/schema/signature.ts";
import { transfer } from "../../../../../src/features/values/rare/kinds/wrappers.ts";
import type { QueuedCall } from "../../../../../src/host/calls/queued-call.ts";
import {
  InFlight,
  type PendingCall,
  RUN_BY_HOST,
} from "../../../../../src/host/calls/in-flight.ts";
import {
  InlineExecutor,
  type InlineExecutorOptions,
} from "../../../../../src/features/workers/inline/host/inline-executor.ts";
import { SnapshotEncoder } from "../../../../../src/lane/snapshot.ts";
import { createCodec } from "../../../../support/endpoints.ts";

type Task = (...args: never[]) => unknown;

interface MadeCall {
  /** Whether the inliner has taken it. */
  readonly isTaken: boolean;
  readonly pending: PendingCall;
  readonly outcome: Promise<unknown>;
}

/** An inliner with one task, whose calls are made and whose event loop is turned by the test. */
function createHost(
  f: Task | undefined,
  given: Partial<InlineExecutorOptions> = {},
  signature?: Signature,
) {
  const codec = createCodec(0);
  const snapshots = new SnapshotEncoder(codec, 1024);
  const inFlight = new InFlight();
  const turns: (() => void)[] = [];
  let rooms = 0;
  const inliner = new InlineExecutor({
    position: "first",
    batchSize: 10,
    dispatchThreshold: 1,
    maxConcurrency: 100,
    codec,
    snapshots,
    inFlight,
    functions: [f as ((...args: unknown[]) => unknown) | undefined],
    signatures: [signature],
    soon: (callback) => void turns.push(callback),
    onRoom: () => rooms++,
    ...given,
  });
  const call = (...args: unknown[]): MadeCall => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const pending = inFlight.add(resolve, reject);
    const { slot, generation } = pending;
    const snapshot = snapshots.capture(args, "args", signature?.args);
    const queued: QueuedCall = { slot, generation, task: 0, snapshot, priority: 0 };
    return { isTaken: inliner.take(queued), pending, outcome: promise };
  };
  /** Turns the event loop once. */
  const turn = (): void => {
    for (const callback of turns.splice(0)) callback();
  };
  return {
    inliner,
    inFlight,
    turns,
    call,
    turn,
    /** What has become of one call made and run. */
    run: (...args: unknown[]): Promise<unknown> => {
      const { outcome } = call(...args);
      turn();
      return outcome;
    },
    hasRoom: (coming: 0 | 1 = 0) => inliner.hasRoom(0, coming),
    rooms: () => rooms,
  };
}

/** Resolves after everything that is settled has been passed on. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

const nothing = (): void => {};

describe("which calls the host takes", () => {
  test('takes calls before the workers with "first", and after them with "last"', () => {
    for (const position of ["first", "last"] as const) {
      const { hasRoom, inliner } = createHost(nothing, { position });
      expect(inliner.takesFirst(0, 1)).toBe(position === "first");
      expect(hasRoom(1)).toBe(true);
    }
  });

  test("takes no calls of a task without a function on the host", () => {
    const { hasRoom, inliner } = createHost(undefined);
    expect([inliner.takesFirst(0, 1), hasRoom(1)]).toEqual([false, false]);
  });

  test("takes calls once dispatchThreshold calls are in flight, including the next one", () => {
    const { call, hasRoom, inliner } = createHost(nothing, { dispatchThreshold: 3 });
    call();
    expect([hasRoom(0), hasRoom(1), inliner.takesFirst(0, 1)]).toEqual([false, false, false]);
    call();
    expect([hasRoom(0), hasRoom(1), inliner.takesFirst(0, 1)]).toEqual([false, true, true]);
    call();
    expect(hasRoom(0)).toBe(true);
  });

  test("takes at most batchSize calls per turn of the event loop", async () => {
    const began: number[] = [];
    const { call, hasRoom, inliner, turn, turns } = createHost(
      (n: number) => began.push(n),
      { batchSize: 3 },
    );
    const calls = [call(0), call(1)];
    expect(hasRoom()).toBe(true);
    calls.push(call(2));
    expect([hasRoom(), inliner.takesFirst(0, 1)]).toEqual([false, false]);
    expect([began, turns.length]).toEqual([[], 1]); // one macrotask for all of them, and none runs before it
    turn();
    expect(began).toEqual([0, 1, 2]);
    expect(hasRoom()).toBe(true);
    calls.push(call(3));
    expect([began.length, turns.length]).toEqual([3, 1]);
    turn();
    expect(await Promise.all(calls.map(({ outcome }) => outcome))).toEqual([1, 2, 3, 4]);
    expect(inliner.ran).toBe(4);
  });

  test("takes at most maxConcurrency unsettled calls, including those of the next turn", async () => {
    const ends: ((value: unknown) => void)[] = [];
    const { call, hasRoom, rooms, turn } = createHost(
      () => new Promise((resolve) => ends.push(resolve)),
      { maxConcurrency: 3 },
    );
    const calls = [call(), call()];
    turn();
    expect(hasRoom()).toBe(true);
    calls.push(call());
    expect(hasRoom()).toBe(false);
    turn();
    expect([hasRoom(), rooms()]).toEqual([false, 0]);
    ends[1]!("second");
    expect(await calls[1]!.outcome).toBe("second");
    await settle();
    expect([hasRoom(), rooms()]).toEqual([true, 1]);
    calls.push(call());
    expect(hasRoom()).toBe(false);
  });

  test("takes no calls with attachments other than buffers", async () => {
    const { call, inliner, run, turns } = createHost((...args: unknown[]) => args);
    const { port1, port2 } = new MessageChannel();
    for (const args of [[transfer(port1)], [transfer({ a: 1 }, [port2])]]) {
      expect(call(...args).isTaken).toBe(false);
    }
    expect([turns.length, inliner.ran]).toEqual([0, 0]);
    const shared = new SharedArrayBuffer(8);
    const [arrived, moved, large] = await run(
      shared,
      transfer(new Uint8Array([1, 2])),
      new Uint8Array(10_000).fill(3),
    ) as unknown[];
    expect(arrived).toBe(shared);
    expect(moved).toEqual(new Uint8Array([1, 2]));
    expect(large).toEqual(new Uint8Array(10_000).fill(3));
    expect(inliner.ran).toBe(1);
  });
});

describe("a call on the host behaves like a call in a worker", () => {
  test("its arguments and its result are copies", async () => {
    let kept: { list: number[] } | undefined;
    const { run } = createHost((value: { list: number[] }) => {
      value.list.push(3);
      return kept = value;
    });
    const given = { list: [1, 2] };
    const got = await run(given);
    expect(given).toEqual({ list: [1, 2] });
    kept!.list.push(4);
    expect(got).toEqual({ list: [1, 2, 3] });
  });

  test("its arguments are encoded when it is made", async () => {
    const { call, turn } = createHost((value: unknown) => value);
    const given = { n: 1 };
    const { outcome } = call(given);
    given.n = 2;
    turn();
    expect(await outcome).toEqual({ n: 1 });
  });

  test("objects of one key list arrive before and after the key list is known", async () => {
    const { run } = createHost((value: unknown) => value);
    for (let n = 0; n < 5; n++) expect(await run({ n, name: `${n}` })).toEqual({ n, name: `${n}` });
  });

  test("its error or rejection reason is a copy", async () => {
    const thrown = new RangeError("why", { cause: { list: [1] } });
    const rejected = [{ list: [1] }];
    const { run } = createHost((kind: string) => {
      if (kind === "throws") throw thrown;
      return Promise.reject(rejected);
    });
    const error = await run("throws").catch((reason: unknown) => reason) as RangeError;
    expect(error).not.toBe(thrown);
    expect(error).toBeInstanceOf(RangeError);
    expect([error.message, error.cause]).toEqual(["why", { list: [1] }]);
    expect(error.cause).not.toBe(thrown.cause);
    const reason = await run("rejects").catch((reason: unknown) => reason) as unknown[];
    expect(reason).toEqual(rejected);
    expect(reason[0]).not.toBe(rejected[0]);
  });

  test("an uncloneable result rejects it", async () => {
    const { inFlight, rooms, run } = createHost(() => ({ f: nothing }));
    await expect(run()).rejects.toMatchObject({
      code: "HEDDLE_DATA_CLONE",
      message: expect.stringMatching(/^result\.f /),
    });
    expect([inFlight.size, rooms()]).toEqual([0, 1]);
  });

  test("its function has no `this`", async () => {
    const { run } = createHost(function (this: unknown) {
      return typeof this;
    });
    expect(await run()).toBe("undefined");
  });

  test("borrowed bytes can be read until it returns", async () => {
    let kept: Borrowed | undefined;
    const { run } = createHost((bytes: Borrowed) => {
      kept = bytes;
      return bytes.at(1);
    });
    expect(await run(borrow(new Uint8Array([1, 2])))).toBe(2);
    expect(() => kept!.at(1)).toThrow(expect.objectContaining({ code: "HEDDLE_BORROW_EXPIRED" }));
  });
});

describe("declared shapes", () => {
  const Point = struct({ x: f64, y: f64 });
  class Computed {
    readonly x: number;
    constructor(x: number) {
      this.x = x;
    }
    get y(): number {
      return -this.x;
    }
  }

  test("arguments and results are converted to their key lists", async () => {
    const arrived: unknown[] = [];
    const { run } = createHost(
      (point: unknown) => {
        arrived.push(point);
        return new Computed(5);
      },
      {},
      signatureOf([Point], Point),
    );
    expect(await run(new Computed(7))).toEqual({ x: 5, y: -5 });
    expect(arrived).toEqual([{ x: 7, y: -7 }]);
  });

  test("a mismatched result rejects only its own call", async () => {
    const { run } = createHost(
      (fits: boolean) => fits ? { x: 1, y: 2 } : { x: 1, y: "2" },
      {},
      signatureOf(undefined, Point),
    );
    await expect(run(false)).rejects.toMatchObject({
      code: "HEDDLE_STRUCT_MISMATCH",
      path: "result.y",
    });
    expect(await run(true)).toEqual({ x: 1, y: 2 });
  });

  test("errors are not checked against the key list of the result", async () => {
    const { run } = createHost(
      () => {
        throw { x: "no number" };
      },
      {},
      signatureOf(undefined, Point),
    );
    await expect(run()).rejects.toEqual({ x: "no number" });
  });
});

describe("a cancelled call", () => {
  test("never runs if cancelled before its turn", async () => {
    const began: number[] = [];
    const { call, inFlight, inliner, turn } = createHost((n: number) => void began.push(n));
    const calls = [call(0), call(1), call(2)];
    inFlight.reject(calls[1]!.pending, "given up");
    await expect(calls[1]!.outcome).rejects.toBe("given up");
    turn();
    await Promise.all([calls[0]!.outcome, calls[2]!.outcome]);
    expect([began, inliner.ran]).toEqual([[0, 2], 2]);
  });

  test("is not confused with the next call in its slot", async () => {
    const { call, inFlight, turn } = createHost((n: number) => n);
    const first = call(1);
    inFlight.reject(first.pending, "given up");
    const second = call(2);
    expect(second.pending).toBe(first.pending);
    turn();
    await expect(first.outcome).rejects.toBe("given up");
    expect(await second.outcome).toBe(2);
  });

  test("counts for maxConcurrency until its task ends", async () => {
    let end = nothing as (value: unknown) => void;
    const { call, hasRoom, inFlight, rooms, turn } = createHost(
      () => new Promise((resolve) => end = resolve),
      { maxConcurrency: 1, dispatchThreshold: 1 },
    );
    const { outcome, pending } = call();
    turn();
    expect(pending.lane).toBe(RUN_BY_HOST);
    inFlight.reject(pending, "given up");
    await expect(outcome).rejects.toBe("given up");
    const next = inFlight.add(nothing, nothing);
    expect([hasRoom(), rooms()]).toEqual([false, 0]);
    end("too late");
    await settle();
    expect([hasRoom(), rooms()]).toEqual([true, 1]);
    expect(inFlight.find(next.slot, next.generation)).toBe(next); // which has its slot
    expect(next.slot).toBe(pending.slot);
  });
});
