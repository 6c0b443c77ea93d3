/** What tasks print. */
import { describe, expect, test } from "vitest";
import { runScript } from "../support/runtime.ts";

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
