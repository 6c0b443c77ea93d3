/** What tasks print. */
import { describe, expect, test, vi } from "vitest";
import {
  createPool,
  type OutputSource,
  type Pool,
  type PoolOptions,
  WorkerLostError,
} from "../../src/mod.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/printing-tasks.ts");

const module = new URL("../fixtures/printing-tasks.ts", import.meta.url);

interface Printed extends OutputSource {
  readonly text: string;
}

/** A pool, and what its workers have printed. */
function printingPool(options: PoolOptions = {}): { pool: Pool<Tasks>; printed: Printed[] } {
  const printed: Printed[] = [];
  const pool = closedAfterTest(
    createPool({
      threads: 1,
      output: (text, source) => void printed.push({ text, ...source }),
      ...options,
    })<Tasks>(module),
  );
  return { pool, printed };
}

const textOf = (printed: readonly Printed[]): string => printed.map(({ text }) => text).join("");
const lost = async (call: Promise<unknown>): Promise<WorkerLostError> => {
  const error = await rejection(call);
  expect(error).toBeInstanceOf(WorkerLostError);
  return error as WorkerLostError;
};

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

describe("the option output", () => {
  test("gets all that a worker prints, from its module to its teardown", async () => {
    const { pool, printed } = printingPool();
    await pool.call.print("one", "two");
    await pool.call.complain("three");
    await pool.shutdown();
    const where = printed.map(({ text, workerId, stream, call }) =>
      [text, workerId, stream, call?.task] as const
    );
    expect(where).toEqual([
      ["module\n", 0, "stdout", undefined],
      ["one\n", 0, "stdout", "print"],
      ["two\n", 0, "stdout", "print"],
      ["three\n", 0, "stderr", "complain"],
      ["teardown\n", 0, "stdout", undefined],
    ]);
  });

  test("gets whole lines of calls that run side by side, and tells the calls apart", async () => {
    const { pool, printed } = printingPool();
    const names = ["a", "b", "c"];
    await Promise.all(names.map((name) => pool.call.printSlowly(name)));
    await pool.shutdown();
    const lines = printed.filter(({ call }) => call?.task === "printSlowly");
    expect(lines.map(({ text }) => text).sort()).toEqual(names.map((n) => `${n}1${n}2${n}3\n`));
    expect(new Set(lines.map(({ call }) => call!.id)).size).toBe(3);
  });

  test("gets a line without its end when its call is over, and bytes as text", async () => {
    const { pool, printed } = printingPool();
    const euro = new TextEncoder().encode("€");
    await pool.call.printParts("a\nb", euro.slice(0, 1), euro.slice(1), "c");
    await pool.call.printEncoded("6465");
    await pool.shutdown();
    const texts = printed.filter(({ call }) => call !== undefined).map(({ text }) => text);
    expect(texts).toEqual(["a\n", "b€c", "de"]);
  });

  test("does not slow down a call that prints a long line in many parts", async () => {
    for (const options of [{}, { workers: "processes" }] as const) {
      const { pool, printed } = printingPool(options);
      await pool.call.printMany("0123456789", 60_000);
      await pool.shutdown();
      const text = textOf(printed).replace("module\n", "").replace("teardown\n", "");
      expect(text).toBe("0123456789".repeat(60_000));
    }
  });

  test("calls back after a write, never in it", async () => {
    const { pool } = printingPool({ output: "ignore" });
    expect(await pool.call.printInTurn(20_000)).toBe(20_000);
  });

  test("knows streams and methods of objects", async () => {
    const { pool, printed } = printingPool();
    expect(await Array.fromAsync(pool.call.printBetween())).toEqual([1]);
    const printer = await pool.spawn.Printer();
    await printer.print("of an object");
    await pool.shutdown();
    const calls = printed.flatMap(({ text, call }) => call ? [[call.task, text]] : []);
    expect(calls).toEqual([
      ["printBetween", "first\n"],
      ["printBetween", "second\n"],
      ["Printer.print", "of an object\n"],
    ]);
  });

  test("keeps the last lines for the error of a worker that ends", async () => {
    for (const output of ["ignore", undefined] as const) {
      const { pool, printed } = printingPool(output === undefined ? {} : { output });
      const error = await lost(pool.call.exitWith("last words", false));
      expect(error.stderr).toContain("whole\n");
      expect(error.stderr).toContain("last words");
      expect(textOf(printed).includes("last words")).toBe(output === undefined);
    }
  });

  test("arrives from a worker that loops, before its time limit stops it", async () => {
    const { pool, printed } = printingPool({ hardTimeoutMs: 2000 });
    const failed = rejection(pool.call.loop("looping"));
    await until(() => textOf(printed).includes("looping\n"));
    await failed;
  });

  test("takes the output of processes in whole lines", async () => {
    const { pool, printed } = printingPool({ workers: "processes" });
    await pool.call.print("one");
    await pool.call.printSlowly("a");
    const error = await lost(pool.call.exitWith("last words", false));
    expect(error.stderr).toContain("last words");
    await pool.shutdown();
    expect(printed.every(({ call }) => call === undefined)).toBe(true);
    const text = textOf(printed.filter(({ stream }) => stream === "stdout"));
    expect(text).toContain("module\none\na1a2a3\n");
    expect(textOf(printed.filter(({ stream }) => stream === "stderr"))).toBe("whole\nlast words");
  });

  test("goes on after a function that throws", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      const pool = printingPool({
        output: () => {
          throw new Error("refused");
        },
      }).pool;
      await pool.call.print("one");
      await pool.call.print("two");
      await pool.shutdown();
      expect(printed.mock.calls.map(([text]) => text)).toContain(
        "heddle: the function output of a pool threw:",
      );
    } finally {
      printed.mockRestore();
    }
  });

  test("is checked", () => {
    const create = (output: unknown) => () => createPool({ output: output as never });
    expect(create("pipe")).toThrow('output must be "inherit", "ignore" or a function');
  });
});
