/** Calls that are repeated when their worker is lost. */
import { describe, expect, test } from "vitest";
import { WorkerLostError } from "../../src/mod.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  until,
} from "../support/conformance.ts";
import { capabilities } from "../support/runtime.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

describe("retries", () => {
  test("are retried up to the limit when their worker is lost", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    expect(await pool.call.dieAtFirst.with({ retries: 3 })(words, 2)).toBe(3);
    expect(pool.stats()).toMatchObject({ workersLost: 2, inFlight: 0 });
    const others = sharedWords();
    const error = await rejection(
      pool.call.dieAtFirst.with({ retries: 1 })(others, 5),
    );
    expect(error).toBeInstanceOf(WorkerLostError);
    expect(Atomics.load(others, 2)).toBe(2);
  });

  test("stop on a worker that was stopped and run again on another", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const controller = new AbortController();
    const { signal } = controller;
    const stopping = rejection(pool.call.hang.with({ signal, killAfterMs: 0 })());
    const last = new AbortController();
    const again = pool.call.loopAtFirst.with({ retries: 3, signal: last.signal })(words);
    await begun(words);
    controller.abort("stop");
    expect(await stopping).toBe("stop");
    await begun(words, 2);
    await until(() => Atomics.load(words, 2) === 1 || capabilities.stopsLoops);
    // Its signal ends the run that it has now.
    last.abort("given up");
    expect(await rejection(again)).toBe("given up");
    release(words);
    expect(pool.stats()).toMatchObject({ aborted: 2, workersLost: 1, inFlight: 0 });
  });

  test("calls without retries run once", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    expect(await rejection(pool.call.dieAtFirst(words, 1))).toBeInstanceOf(WorkerLostError);
    await pool.call.echo(0);
    expect(Atomics.load(words, 2)).toBe(1);
  });
});
