/** How an exhausted stack is told from other exceptions. Firefox has a class for it, which other engines lack. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

class InternalError extends Error {}

let isStackOverflow: (error: unknown) => boolean;
let readFailure: (error: unknown, bytes: number) => unknown;

beforeAll(async () => {
  Object.assign(globalThis, { InternalError });
  vi.resetModules();
  ({ isStackOverflow } = await import("../../../src/codec/support/stack-overflow.ts"));
  ({ readFailure } = await import("../../../src/codec/support/read-failure.ts"));
});
afterAll(() => {
  Reflect.deleteProperty(globalThis, "InternalError");
});

function overflow(): unknown {
  const dive = (): number => 1 + dive();
  try {
    return dive();
  } catch (error) {
    return error;
  }
}

describe("an exhausted stack", () => {
  test.each([
    ["this engine's", overflow],
    ["Firefox's", () => new InternalError("too much recursion")],
  ])("%s is known, and refuses one value only", (_, create) => {
    const error = create();
    expect(isStackOverflow(error)).toBe(true);
    expect(readFailure(error, 8)).toMatchObject({ code: "HEDDLE_DATA_CLONE", cause: error });
  });

  test.each([
    ["another of that class", () => new InternalError("allocation size overflow")],
    ["a program's error with that text", () => new Error("too much recursion")],
    ["a number out of range", () => new RangeError("Invalid array length")],
    ["no error", () => "too much recursion"],
  ])("%s is none", (_, create) => {
    expect(isStackOverflow(create())).toBe(false);
  });
});
