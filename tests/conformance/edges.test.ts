/** What surrounds a program: other copies of the library, extended prototypes, output, processes that end. */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createPool, InvalidArgumentError } from "../../src/mod.ts";
import { createSupervisedPool } from "../fixtures/supervision-tasks.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import {
  closedAfterTest,
  rejection,
  sharedWords,
  testPool,
  until,
} from "../support/conformance.ts";
import { capabilities, runFile, runScript, runtimeName } from "../support/runtime.ts";

describe("another copy of heddle in the process", () => {
  test("its wrappers and errors are recognized", async () => {
    const { code, output } = await runScript("two-copies.ts");
    expect([code, JSON.parse(output)]).toEqual([0, {
      transferred: [5, 0],
      borrowed: 6,
      envelope: [1, 2],
      instance: true,
      errors: [true, true, false, false, true],
      thrown: [true, "HEDDLE_QUEUE_FULL"],
    }]);
  });
});

describe("an uncaught exception in a worker", () => {
  test("is printed if it rejects no call and no listener prevents it", async () => {
    const { code, output } = await runScript("silent-death.ts");
    const printed = output.split("heddle: uncaught exception in worker 0:").length - 1;
    // Deno prints all three by itself.
    expect([code, printed]).toEqual([0, capabilities.printsUncaught ? 0 : 1]);
    expect(output).toMatch(/rror: quiet/);
    if (!capabilities.printsUncaught) expect(output).not.toMatch(/heard|rejected/);
  });
});

describe("output of tasks", () => {
  test("appears if the process ends while the pool is open", async () => {
    const { code, output } = await runScript("last-output.ts");
    expect([code, output.split("\n").sort()]).toEqual([
      0,
      [
        "",
        ...Array.from({ length: 24 }, (_, n) => `error ${n}`),
        ...Array.from({ length: 24 }, (_, n) => `line ${n}`),
      ].sort(),
    ]);
  });
});

describe("modified built-ins", () => {
  test("a pool works if Object.prototype has an enumerable property", async () => {
    const { code, output } = await runScript("proto-enumerable.ts");
    expect({ code, output }).toEqual({ code: 0, output: '4 {"a":1}\n' });
  });

  test.runIf(runtimeName === "node")("a pool works with frozen intrinsics", async () => {
    const file = fileURLToPath(new URL("../fixtures/scripts/frozen.ts", import.meta.url));
    const { code, output } = await runFile(file, ["--no-warnings", "--frozen-intrinsics"]);
    expect({ code, output }).toEqual({ code: 0, output: "4 { a: 1 } TypeError\n" });
  });
});

describe("arguments of createPool", () => {
  const identity = (value: unknown): unknown => value;

  test("createPool throws for options and tasks of the wrong form or in the wrong order", () => {
    const create = createPool as (...args: unknown[]) => (tasks: unknown) => unknown;
    expect(() => create({ threads: 1 }, { identity })).toThrow(/createPool\(options\)\(tasks\)/);
    for (const tasks of [new Map([["identity", identity]]), [identity], Promise.resolve({})]) {
      expect(() => create()(tasks)).toThrow(InvalidArgumentError);
      expect(() => create()(tasks)).toThrow(
        /tasks as an object.*got \[object (Map|Array|Promise)\]/,
      );
    }
  });

  test("signal: null means no signal", async () => {
    const { call } = testPool();
    expect(await call.echo.with({ signal: null })(1)).toBe(1);
  });
});

test("a CryptoKey arrives as the first value of a worker", async () => {
  const { call } = testPool({ threads: 1 });
  const algorithm = { name: "AES-GCM", length: 128 };
  const key = await crypto.subtle.generateKey(algorithm, true, ["encrypt"]);
  const arrived = await call.echo(key) as CryptoKey;
  expect(await crypto.subtle.exportKey("raw", arrived)).toEqual(
    await crypto.subtle.exportKey("raw", key),
  );
});

test("calls rejected by a full queue share one error without a stack", async () => {
  const pool = testPool({ threads: 1, maxQueue: 1 });
  const calls = Array.from({ length: 5 }, () => pool.call.sleep(20, 1));
  const outcomes = await Promise.allSettled(calls);
  const reasons = outcomes.flatMap((one) => one.status === "rejected" ? [one.reason as Error] : []);
  expect(reasons.length).toBeGreaterThan(1);
  expect(new Set(reasons).size).toBe(1);
  expect(reasons[0]).toMatchObject({ code: "HEDDLE_QUEUE_FULL", maxQueue: 1 });
  expect(reasons[0]!.stack).toBe("QueueFullError: 1 calls are waiting already (maxQueue).");
  expect(Object.keys(reasons[0]!).sort()).toEqual(["code", "maxQueue"]);
});

test.runIf(runtimeName === "node")(
  "a pool works in code from the command line and from stdin",
  async () => {
    const { code, output } = await runScript("eval.ts");
    expect({ code, output }).toEqual({ code: 0, output: "42\n42\n" });
  },
);

test("a pool created by a tail call finds its module or throws", async () => {
  const { output } = await runScript("tail-call.ts");
  if (capabilities.hidesTailCalls) {
    expect(output).toMatch(/TaskNotFoundError: .*square.*tail call.*moduleUrl: import\.meta\.url/);
  } else expect(output).toBe("9\n");
});

describe("recycleAfter below 16 is exact", () => {
  test.each([1, 3])("each worker runs %i calls", async (recycleAfter) => {
    const pool = closedAfterTest(createSupervisedPool({ threads: 1, recycleAfter }));
    const marks = await Promise.all(Array.from({ length: 6 }, () => pool.call.leak(0)));
    const calls = [...new Set(marks)].map((mark) => marks.filter((one) => one === mark).length);
    expect(calls).toEqual(Array.from({ length: 6 / recycleAfter }, () => recycleAfter));
    expect(pool.stats()).toMatchObject({ workersLost: 0 });
    for (let n = 0; n < recycleAfter; n++) expect(await pool.call.echo(n)).toBe(n);
  });

  test("each worker runs one call if calls are long or sequential", async () => {
    const pool = closedAfterTest(createSupervisedPool({ threads: 2, recycleAfter: 1 }));
    const marks = new Set<number>();
    for (let round = 0; round < 3; round++) {
      const long = pool.call.sleep(30);
      marks.add(await pool.call.leak(0));
      await long;
    }
    expect(marks.size).toBe(3);
    await until(() => pool.stats().recycled >= 6);
    const { workersStarted, recycled } = pool.stats();
    expect(workersStarted).toBeLessThanOrEqual(recycled + 2);
  });
});

describe("a thread that cannot be stopped", () => {
  /** Runs a task that loops until the words say otherwise, and is stopped for it. */
  async function loop(pool: ReturnType<typeof createLimitedPool>): Promise<Int32Array> {
    const words = sharedWords();
    const error = await rejection(pool.call.untilSet(words));
    expect(error).toMatchObject({ code: "HEDDLE_TIMEOUT", kind: "hard" });
    return words;
  }
  const end = (all: readonly Int32Array[]): void => all.forEach((words) => void (words[0] = 1));

  test.runIf(!capabilities.stopsLoops)("is counted and reported while it runs", async () => {
    const pool = closedAfterTest(
      createLimitedPool({ hardTimeoutMs: 1000, maxAbandonedThreads: 2 }),
    );
    const printed: unknown[] = [];
    pool.addEventListener("threadAbandoned", (event) => {
      printed.push(event.detail);
      event.preventDefault();
    });
    const all = [await loop(pool), await loop(pool)];
    expect(printed).toEqual([{ workerId: 0, abandonedThreads: 1 }, {
      workerId: 1,
      abandonedThreads: 2,
    }]);
    expect(pool.stats()).toMatchObject({ abandonedThreads: 2, workersLost: 2 });
    end(all);
    await until(() => pool.stats().abandonedThreads === 0);
    expect(await pool.call.echo("goes on")).toBe("goes on");
  });

  test.runIf(!capabilities.stopsLoops)("is not replaced beyond maxAbandonedThreads", async () => {
    const pool = closedAfterTest(
      createLimitedPool({ threads: 2, hardTimeoutMs: 1000, maxAbandonedThreads: 0 }),
    );
    await pool.ready;
    const all = [await loop(pool)];
    expect(pool.stats()).toMatchObject({ abandonedThreads: 0, workersStarted: 2, ready: 1 });
    for (let n = 0; n < 10; n++) expect(await pool.call.echo(n)).toBe(n);
    end(all);
    await until(() => pool.stats().inFlight === 0);
    const words = sharedWords();
    words[0] = 1;
    expect(await pool.call.untilSet(words)).toBe("set");
  });

  test.runIf(!capabilities.stopsLoops)("fails the pool if it was the last worker", async () => {
    const pool = closedAfterTest(
      createLimitedPool({ hardTimeoutMs: 1000, maxAbandonedThreads: 1 }),
    );
    const all = [await loop(pool)];
    const words = sharedWords();
    const stuck = rejection(pool.call.untilSet(words));
    const behind = rejection(pool.call.mark(sharedWords()));
    expect(await stuck).toMatchObject({ kind: "hard" });
    const failure = {
      code: "HEDDLE_WORKER_START",
      message: expect.stringMatching(/No worker is left/),
    };
    expect(await behind).toMatchObject(failure);
    expect(await rejection(pool.call.echo(1))).toMatchObject(failure);
    end([...all, words]);
  });

  test.runIf(capabilities.stopsLoops)("does not exist if the runtime can stop loops", async () => {
    const pool = closedAfterTest(createLimitedPool({ hardTimeoutMs: 50, maxAbandonedThreads: 0 }));
    await loop(pool);
    await loop(pool);
    expect(pool.stats().abandonedThreads).toBe(0);
    await until(() => pool.stats().workersLost >= 2);
  });
});

test("garbage-collected pools are closed with one warning", async () => {
  const file = fileURLToPath(new URL("../fixtures/scripts/forgotten.ts", import.meta.url));
  const { code, output } = await runFile(file, ["--expose-gc"], 50_000);
  const [warning, ...lines] = output.split("\n");
  expect(warning).toMatch(/^heddle: a pool that is no longer referenced was closed/);
  expect([code, ...lines]).toEqual([0, "forgotten true kept 0 busy 0", "1 1 2 3", "4", ""]);
});
