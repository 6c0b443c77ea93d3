/** Two copies of heddle in one process. */
import { describe, expect, test } from "vitest";
import { runScript } from "../support/runtime.ts";

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
