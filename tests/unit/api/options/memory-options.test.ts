/** Options that are bytes or a percentage of the memory: `maxWorkerBytes`, `minFreeMemory`. */
import { describe, expect, test } from "vitest";
import "../../../support/features.ts";
import { resolveOptions } from "../../../../src/api/options/options.ts";
import type { PoolOptions } from "../../../../src/api/options/pool-options.ts";
import type { OptionsRuntime } from "../../../../src/api/options/resolved-options.ts";

const GIB = 2 ** 30;

const runtime: OptionsRuntime = {
  cores: 4,
  refuseLimits: () => [],
  takesExecArgv: true,
  measuresMemory: true,
  systemMemory: () => ({ totalBytes: 4 * GIB, freeBytes: GIB }),
};
const resolve = (options: object, given = runtime) => resolveOptions(options as PoolOptions, given);

describe.each(["maxWorkerBytes", "minFreeMemory"])("%s", (name) => {
  /** What the option stands for. */
  const bytesOf = (value: unknown, given?: OptionsRuntime): unknown => {
    const { startData, minFreeMemory } = resolve({ [name]: value }, given);
    return name === "minFreeMemory" ? minFreeMemory : startData["scaling"];
  };

  test("takes bytes, and percentages of the memory that the process may use", () => {
    expect(bytesOf(64 * 2 ** 20)).toBe(64 * 2 ** 20);
    expect(bytesOf("25%")).toBe(GIB);
    expect(bytesOf("12.5%")).toBe(GIB / 2);
    expect(bytesOf("100%")).toBe(4 * GIB);
    expect(bytesOf("0.1%")).toBe(Math.floor(4 * GIB / 1000));
    expect(bytesOf("0.00000000001%")).toBe(1);
  });

  test.each(["20", "0%", "101%", "-5%", "20 %", "%", "1e1%", ".5%", "half", "", -1, 0.5, NaN, {}])(
    "refuses %j, and names it and the rule",
    (value) => {
      const rule = name === "minFreeMemory"
        ? "an integer from 0 to 9007199254740991, or a percentage"
        : "an integer from 1 to 9007199254740991, or Infinity, or a percentage";
      expect(() => resolve({ [name]: value })).toThrow(
        `${name} must be ${rule} such as "20%", at most "100%", got `,
      );
      if (typeof value === "string") {
        expect(() => resolve({ [name]: value })).toThrow(`got ${JSON.stringify(value)}.`);
      }
    },
  );

  test("percentages are refused where the memory of the system is not known", () => {
    const unknown = { ...runtime, systemMemory: () => "nobody tells" };
    expect(() => bytesOf("20%", unknown)).toThrow(
      `${name} cannot read the memory of the system: nobody tells.`,
    );
    if (name === "maxWorkerBytes") expect(bytesOf(1000, unknown)).toBe(1000);
    else expect(() => bytesOf(1000, unknown)).toThrow("cannot read the memory");
  });
});

describe("minFreeMemory", () => {
  test("needs a number of workers that may change", () => {
    const error = /workers beyond minThreads, and this pool always has 4: set minThreads below/;
    expect(() => resolve({ threads: 4, minFreeMemory: 1 })).toThrow(error);
    expect(() => resolve({ maxThreads: 4, minThreads: 4, minFreeMemory: 1 })).toThrow(error);
    for (
      const threads of [
        {},
        { threads: 1 },
        { threads: 4, minThreads: 1 },
        { minThreads: 0, maxThreads: 2 },
      ]
    ) {
      expect(resolve({ ...threads, minFreeMemory: "25%" }).minFreeMemory).toBe(GIB);
    }
    expect(resolve({ minFreeMemory: 1 }, { ...runtime, cores: 2 }).minFreeMemory).toBe(1);
  });

  test("0 is no limit, and reads no memory", () => {
    const unknown = { ...runtime, systemMemory: () => "nobody tells" };
    expect(resolve({ minFreeMemory: 0 }, unknown).minFreeMemory).toBe(0);
  });
});
