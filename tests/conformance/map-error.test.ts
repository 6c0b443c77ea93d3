/** What libraries that wrap heddle use: the option `mapError`, and the place where their own functions are called. */
import { describe, expect, test, vi } from "vitest";
import {
  callPlaceOf,
  createPool,
  DataCloneError,
  Envelope,
  PoolClosedError,
} from "../../src/mod.ts";
import { closedAfterTest, testPool } from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

const url = new URL("../fixtures/module-tasks.ts", import.meta.url);

describe("mapError", () => {
  const mapped = { mapError: (reason: unknown) => ({ mapped: reason }) };

  test("gives the reasons of calls another form: of tasks, refusals, aborts and closed pools", async () => {
    const { call, shutdown } = testPool(mapped);
    await expect(call.echo(() => {})).rejects.toEqual({ mapped: expect.any(DataCloneError) });
    const controller = new AbortController();
    controller.abort("mine");
    await expect(call.echo.with({ signal: controller.signal })(1)).rejects.toEqual({
      mapped: "mine",
    });
    expect(await call.echo(1)).toBe(1);
    await shutdown();
    await expect(call.echo(1)).rejects.toEqual({ mapped: expect.any(PoolClosedError) });
  });

  test("applies to calls made before the tasks of a module are known, and to unknown ones", async () => {
    const pool = closedAfterTest(createPool({ threads: 1, ...mapped })(url));
    await expect(pool.call["nothing of this name"]!()).rejects.toEqual({
      mapped: expect.any(Error),
    });
  });

  test("that throws is the reason", async () => {
    const error = new Error("thrown by mapError");
    const mapError = () => {
      throw error;
    };
    const { call, shutdown } = testPool({ mapError });
    await expect(call.echo(() => {})).rejects.toBe(error);
    await shutdown();
  });
});

test("callPlaceOf tells where the running function was called", () => {
  const whereAmI = () => {
    const place = callPlaceOf(whereAmI); // not as a tail call, after which whereAmI is not on Bun's stack
    return place;
  };
  const place = whereAmI();
  expect(place?.module).toMatch(/map-error\.test/);
  expect(place?.place).toMatch(/map-error\.test.*:\d+:\d+$/);
  expect(callPlaceOf(() => {})).toBeUndefined();
});

test("tasks declared through a function of another library are found", async () => {
  const { code, output } = await runScript("wrapped.ts");
  expect([code, output.trim()]).toEqual([0, "wrapped a, imported"]);
});

test("an Envelope disposes of its payload if it can", () => {
  const dispose = vi.fn();
  new Envelope(1, { [Symbol.dispose]: dispose })[Symbol.dispose]();
  expect(dispose).toHaveBeenCalledOnce();
  for (const payload of [undefined, null, 5, new ArrayBuffer(1)]) {
    expect(new Envelope(1, payload)[Symbol.dispose]()).toBeUndefined();
  }
});
