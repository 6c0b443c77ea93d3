/** Workers that end while they have calls. */
import { describe, expect, test, vi } from "vitest";
import { WorkerLostError } from "../../src/mod.ts";
import { createDoomedPool, type DoomedPool } from "../fixtures/dying-tasks.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  testPool,
  until,
} from "../support/conformance.ts";
import { capabilities, runScript } from "../support/runtime.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

function doomedPool(options: Parameters<typeof createDoomedPool>[0] = {}): DoomedPool {
  return closedAfterTest(createDoomedPool(options));
}

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("any number of calls that end their workers fail alone", async () => {
  const pool = limitedPool();
  const deaths = Array.from({ length: 14 }, () => rejection(pool.call.exit(3)));
  const echoes = Array.from({ length: 40 }, (_, n) => pool.call.echo(n));
  for (const error of await Promise.all(deaths)) expect(error).toBeInstanceOf(WorkerLostError);
  expect(await Promise.all(echoes)).toEqual(echoes.map((_, n) => n));
});

describe("a worker that ends", () => {
  test("queued calls run elsewhere, whether sent inline or by message", async () => {
    const pool = limitedPool();
    await pool.ready;
    const shared = new SharedArrayBuffer(16);
    const large = new Uint8Array(300_000);
    const exiting = rejection(pool.call.exit(3));
    const [plain, platform, again] = [
      pool.call.echo("plain"),
      pool.call.echo(shared),
      pool.call.lengthOf.with({ retries: 3 })(large),
    ];
    await exiting;
    expect(await plain).toBe("plain");
    expect(await platform).toBeInstanceOf(SharedArrayBuffer);
    expect(await again).toBe(300_000);
  });
});

describe("after an uncaught exception in a microtask", () => {
  const payloads: Record<string, () => unknown> = {
    "small ones": () => 1,
    "large ones": () => "y".repeat(2 * 2 ** 20),
    "shared ones": () => new SharedArrayBuffer(8),
  };
  test.each(Object.keys(payloads))(
    "calls that have not begun run on the replacement: %s",
    async (kind) => {
      const pool = doomedPool();
      await pool.ready;
      for (let round = 0; round < 5; round++) {
        const words = sharedWords();
        const waiting = pool.call.wait(words); // in flight, so the loop goes on by microtasks
        const doomed = pool.call.throwSoon();
        const made = Array.from({ length: 6 }, payloads[kind]!);
        const innocent = made.map((value) => pool.call.noted(words, value));
        expect(await rejection(doomed)).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
        expect(await rejection(waiting)).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
        expect(await Promise.all(innocent)).toEqual(made);
        expect(words[1]).toBe(made.length);
      }
    },
  );
});

test.each([false, true])(
  "a result that cannot be posted rejects its own call while a response backlog waits (thrown: %s)",
  async (isThrown) => {
    const pool = doomedPool({
      ringBytes: { requests: 65_536, responses: 1024 },
      balancer: "leastLoaded", // keeps none of them on the host
    });
    await pool.ready;
    const [words, later] = [sharedWords(), sharedWords()];
    const waiting = pool.call.wait(later);
    const gone = rejection(pool.call.giveGone(words, isThrown));
    const texts = Array.from({ length: 50 }, () => pool.call.text(200));
    // Nobody takes answers meanwhile, so they fill the ring, and others wait when this one comes.
    busy(50);
    release(words);
    busy(50);
    expect(await gone).toMatchObject({ code: "HEDDLE_DATA_CLONE" });
    release(later);
    expect(await waiting).toBe("waited");
    expect(await Promise.all(texts)).toEqual(new Array(50).fill("z".repeat(200)));
    expect(pool.stats().workersLost).toBe(0);
  },
);

test("a broken worker exits even if its tasks handle uncaught exceptions", async () => {
  const pool = doomedPool();
  await pool.call.handleUncaught();
  const broken = rejection(pool.call.breakAtomics());
  expect(await broken).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
  expect(await pool.call.echo("another")).toBe("another");
});

test('tasks with signals run if Object.prototype has "get" and "value"', async () => {
  const pool = doomedPool();
  await pool.call.pollute(true);
  expect(await pool.call.signalled()).toBe(false);
  await pool.call.pollute(false);
  expect(pool.stats().workersLost).toBe(0);
});

describe("a worker that ends", () => {
  test("process.exit in a task rejects the worker's calls, and a replacement takes the next call", async () => {
    const pool = testPool();
    const running = pool.call.hang();
    const exiting = pool.call.exit(7);
    const error = await rejection(exiting);
    expect(error).toMatchObject({
      name: "WorkerLostError",
      code: "HEDDLE_WORKER_LOST",
      workerId: 0,
      exitCode: 7,
      task: "exit",
    });
    expect(await rejection(running)).toMatchObject({ code: "HEDDLE_WORKER_LOST", task: "hang" });
    expect(await rejection(running)).not.toBe(error);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats()).toMatchObject({ workersStarted: 2, workersLost: 1, ready: 1 });
  });

  test("the rejection has the uncaught exception as its cause", async () => {
    const pool = testPool();
    const error = await rejection(pool.call.crash()) as Error;
    expect(error).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(error.message).toMatch(/crashed/);
    expect((error.cause as Error).message).toMatch(/crashed/);
    expect(await pool.call.echo("again")).toBe("again");
  });

  test("responses sent before the exit are delivered", async () => {
    const { call } = testPool();
    for (let round = 0; round < 5; round++) {
      await call.echo("warm");
      const answered = Array.from({ length: 200 }, (_, n) => call.echo(n));
      const large = [call.large(3_000_000), call.echo({ an: "object" })];
      const exit = rejection(call.exit(0));
      const behind = Array.from({ length: 20 }, (_, n) => call.echo(n));
      expect(await Promise.all(answered)).toEqual(Array.from({ length: 200 }, (_, n) => n));
      expect((await large[0] as Uint8Array).length).toBe(3_000_000);
      expect(await large[1]).toEqual({ an: "object" });
      expect(await exit).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
      // What the worker had not begun runs elsewhere.
      expect(await Promise.all(behind)).toEqual(behind.map((_, n) => n));
    }
  });

  test("other workers and their calls continue", async () => {
    // By turns: else all three may go to one worker, which is free while its tasks wait.
    const pool = testPool({ threads: 2, balancer: "roundRobin" });
    await pool.ready;
    const words = sharedWords();
    const [shared, other] = [rejection(pool.call.answerWhen(words)), pool.call.answerWhen(words)];
    await begun(words, 2);
    expect(await rejection(pool.call.exit(1))).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(await shared).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    release(words);
    expect(await other).toBe(undefined);
    expect(await Promise.all(Array.from({ length: 100 }, (_, n) => pool.call.echo(n))))
      .toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  test("the pool replaces a worker six times in a row", async () => {
    const pool = testPool();
    for (let round = 0; round < 6; round++) {
      await rejection(round % 2 === 0 ? pool.call.exit(round) : pool.call.crash());
    }
    expect(await pool.call.add(2, 2)).toBe(4);
    expect(pool.stats()).toMatchObject({ workersLost: 6, inFlight: 0 });
  });

  test("the event of its end has the error", async () => {
    const pool = testPool();
    const lost = new Promise((resolve) => {
      pool.addEventListener("workerExit", (event) => resolve(event.detail.error));
    });
    await rejection(pool.call.exit(3));
    expect(await lost).toMatchObject({ exitCode: 3 });
  });

  test("the pool replaces an idle worker that exits", async () => {
    const pool = testPool();
    const codes: unknown[] = [];
    pool.addEventListener("workerExit", ({ detail }) => codes.push(detail.error?.exitCode));
    expect(await pool.call.exitLater(5)).toBe(undefined);
    await until(() => codes.length > 0);
    // No call is made that would need a worker.
    await until(() => pool.stats().ready === 1);
    expect(pool.stats()).toMatchObject({ workersStarted: 2, workersLost: 1 });
    expect(codes).toEqual([5]);
    expect(await pool.call.add(1, 2)).toBe(3);
  });
});

describe("unhandled rejections in a worker", () => {
  test("are reported and the worker continues", async () => {
    const pool = testPool();
    const reported = new Promise<{ workerId: number; error: Error }>((resolve) => {
      pool.addEventListener("unhandledRejection", (event) => {
        event.preventDefault();
        resolve(event.detail);
      });
    });
    expect(await pool.call.rejectUnhandled()).toBe("returned");
    const { workerId, error } = await reported;
    expect(workerId).toBe(0);
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toBe("nobody handles this");
    expect(await pool.call.add(1, 1)).toBe(2);
    expect(pool.stats().workersLost).toBe(0);
  });

  test("that the worker's own code handles are not reported", async () => {
    const counts = new Int32Array(new SharedArrayBuffer(4));
    const setup = new URL("../fixtures/setup-rejections.ts", import.meta.url);
    const pool = testPool({ threads: 1, worker: { setup, data: counts } });
    const reported: unknown[] = [];
    pool.addEventListener("unhandledRejection", (event) => {
      event.preventDefault();
      reported.push(event.detail);
    });
    await pool.call.rejectUnhandled();
    await until(() => counts[0] === 1);
    await pool.shutdown(); // what the worker has posted arrives before it ends
    expect(reported).toEqual([]);
  });

  test("are printed unless a listener prevents it", async () => {
    const pool = testPool();
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      await pool.call.rejectUnhandled();
      await until(() => print.mock.calls.length > 0);
      expect(String(print.mock.calls[0]?.[0])).toMatch(/unhandled rejection in worker 0/);
    } finally {
      print.mockRestore();
    }
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
