/** Globals that a program has replaced after heddle was loaded: in the host, and in workers. */
import { describe, expect, test } from "vitest";
import { createPool, type Pool } from "../../src/mod.ts";
import { exercise, module, REPLACED, type Tasks } from "../fixtures/replaced/exercise.ts";
import { closedAfterTest } from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

const here = (name: string): URL => new URL(`../fixtures/replaced/${name}`, import.meta.url);

function replacedPool(names: readonly string[], taskModule: URL, setup?: URL): Pool<Tasks> {
  const worker = { data: names, ...(setup && { setup }) };
  return closedAfterTest(createPool({ threads: 1, worker })<Tasks>(taskModule));
}

describe("in a worker", () => {
  test.each(REPLACED)("%s, by the setup module", async (name) => {
    expect(await exercise(replacedPool([name], module, here("setup.ts")))).toEqual([]);
  });

  test("all of them, by the setup module", async () => {
    expect(await exercise(replacedPool(REPLACED, module, here("setup.ts")))).toEqual([]);
  });

  test("all of them, by the task module", async () => {
    expect(await exercise(replacedPool(REPLACED, here("late-tasks.ts")))).toEqual([]);
  });
});

test("in the host, one at a time and all of them", async () => {
  const { code, output } = await runScript("replaced-globals.ts");
  expect([code, output]).toEqual([0, "done\n"]);
});

/** An AbortSignal as old polyfills have it: not the runtime's, and without a reason. */
class OldSignal {
  aborted = false;
  readonly listeners: Set<() => void> = new Set();

  addEventListener(_type: string, listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: string, listener: () => void): void {
    this.listeners.delete(listener);
  }

  abort(): void {
    this.aborted = true;
    for (const listener of this.listeners) listener();
  }
}

describe("a signal of a polyfill, without a reason", () => {
  const endless = (): Promise<void> => new Promise(() => {});
  const start = (): { pool: Pool<Tasks>; old: OldSignal; signal: AbortSignal } => {
    const old = new OldSignal();
    return {
      pool: closedAfterTest(createPool({ threads: 1 })<Tasks>(module)),
      old,
      signal: old as never,
    };
  };

  test("aborts calls, and is let go of after them", async () => {
    const { pool, old, signal } = start();
    const { echo, waits } = pool.call;
    await echo.with({ signal })(1);
    expect(old.listeners.size).toBe(0);
    const calls = [waits.with({ signal })(), echo.with({ signal })(endless())];
    old.abort();
    for (const call of [...calls, echo.with({ signal })(1)]) {
      await expect(call).rejects.toMatchObject({ name: "AbortError" });
    }
    expect(old.listeners.size).toBe(0);
  });

  test("aborts map()", async () => {
    const { pool, old, signal } = start();
    await pool.ready;
    const run = pool.map(pool.call.waits.with({ signal }), [1, 2]).toArray();
    old.abort();
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    const after = pool.map(pool.call.echo.with({ signal }), [1]).toArray();
    await expect(after).rejects.toMatchObject({ name: "AbortError" });
  });
});
