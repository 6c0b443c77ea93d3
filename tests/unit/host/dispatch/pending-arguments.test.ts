/** Promises among the arguments of a call, until it can be sent. */
import { describe, expect, test } from "vitest";
import { f64, struct } from "../../../../src/features/values/structs/schema/schema.ts";
import { signatureOf } from "../../../../src/features/values/structs/schema/signature.ts";
import type { Snapshot } from "../../../../src/lane/snapshot.ts";
import {
  hasPromise,
  ignoreRejections,
  PendingArguments,
} from "../../../../src/host/dispatch/pending-arguments.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import { receive, sendHeldCall } from "../../../support/codec.ts";
import { createEndpoints } from "../../../support/endpoints.ts";

const { isPromise } = currentRuntime;
const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/** Arguments that are awaited, and what came of them so far. */
function wait(args: readonly unknown[], declared?: Parameters<typeof signatureOf>[0]) {
  const pair = createEndpoints(1 << 16);
  const signature = declared === undefined ? undefined : signatureOf(declared, undefined)!.args;
  const outcomes: unknown[] = [];
  const waiting = new PendingArguments(args, isPromise, pair.snapshots, signature);
  waiting.whenKnown((snapshot: Snapshot) => {
    sendHeldCall(pair.host, snapshot);
    pair.worker.decoder.declared = signature;
    outcomes.push(receive(pair));
  }, (reason) => outcomes.push({ reason }));
  return { waiting, outcomes };
}

describe("promises among the arguments", () => {
  test("are replaced by their values in position, in any order of settlement", async () => {
    const first = Promise.withResolvers<unknown>();
    const last = Promise.withResolvers<unknown>();
    const { outcomes } = wait([first.promise, "between", { a: 1 }, last.promise]);
    last.resolve([4]);
    await settle();
    expect(outcomes).toEqual([]);
    first.resolve({ one: 1 });
    await settle();
    expect(outcomes).toEqual([[{ one: 1 }, "between", { a: 1 }, [4]]]);
  });

  test("do not delay the other arguments, which are encoded once when the call is made", async () => {
    let runs = 0;
    const bytes = new Uint8Array([1, 2]);
    const object = {
      get field() {
        return ++runs;
      },
    };
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { outcomes } = wait([object, promise, bytes]);
    bytes[0] = 9;
    resolve(3);
    await settle();
    expect(outcomes).toEqual([[{ field: 1 }, 3, new Uint8Array([1, 2])]]);
    expect(runs).toBe(1);
  });

  test("are checked against declared shapes like other arguments", async () => {
    const Point = struct({ x: f64 });
    const fits = wait([Promise.resolve({ x: 1 }), { x: 2 }], [Point, Point]);
    const misfit = wait([{ x: 1 }, Promise.resolve({ x: "no" })], [Point, Point]);
    await settle();
    expect(fits.outcomes).toEqual([[{ x: 1 }, { x: 2 }]]);
    expect(misfit.outcomes).toEqual([
      { reason: expect.objectContaining({ code: "HEDDLE_STRUCT_MISMATCH" }) },
    ]);
  });

  test("reject the call once with the first rejection reason", async () => {
    const { outcomes } = wait([Promise.reject("first"), Promise.reject("second"), 1]);
    await settle();
    expect(outcomes).toEqual([{ reason: "first" }]);
  });

  test("reject the call with the path of an uncloneable value", async () => {
    const { outcomes } = wait([1, Promise.resolve(() => {})]);
    await settle();
    expect(outcomes).toEqual([
      { reason: expect.objectContaining({ message: expect.stringMatching(/^args\[1\] /) }) },
    ]);
  });

  test("have no effect after the call is over", async () => {
    for (const isFulfilled of [true, false]) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const { waiting, outcomes } = wait([promise]);
      waiting.onOver();
      if (isFulfilled) resolve(1);
      else reject("too late");
      await settle();
      expect(outcomes).toEqual([]);
    }
  });

  test("a value whose getter cancels the call is not sent", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { waiting, outcomes } = wait([promise]);
    resolve({
      get field(): number {
        waiting.onOver();
        return 1;
      },
    });
    await settle();
    expect(outcomes).toEqual([]);
  });

  test("uncloneable arguments are refused immediately, and promise rejections are handled", async () => {
    expect(() => wait([Promise.reject("unheard"), () => {}])).toThrow(/^args\[1\] /);
    await settle();
  });
});

test("promises of a refused call are handled, even if their species throws", async () => {
  class Odd extends Promise<unknown> {
    static override get [Symbol.species](): never {
      throw new Error("no other promises");
    }
  }
  ignoreRejections([Promise.reject("unheard"), 1, new Odd(() => {})], isPromise);
  await settle();
});

test("only promises are awaited, other thenables are not", () => {
  expect(hasPromise([1, Promise.resolve()], isPromise)).toBe(true);
  expect(hasPromise([Promise.resolve()], isPromise)).toBe(true);
  // oxlint-disable-next-line unicorn/no-thenable -- it is what must not be awaited
  for (const args of [[], [1], [{ then: () => {} }], [null, "a"], [() => {}, {}]]) {
    expect(hasPromise(args, isPromise)).toBe(false);
  }
});
