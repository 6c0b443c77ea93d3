import { expect, test } from "vitest";
import { callerOf } from "../../src/realm/call-site.ts";

function whoCalls(): string | undefined {
  // Not as a tail call: JavaScriptCore drops the frame of a function that ends in one.
  const caller = callerOf(whoCalls);
  return caller;
}

test("names the module of the caller", () => {
  expect(whoCalls()).toMatch(/call-site\.test\.ts(\?.*)?$/);
});

test("leaves stacks as they were", () => {
  const StackError = Error as unknown as { prepareStackTrace: unknown; stackTraceLimit: number };
  const before = [StackError.prepareStackTrace, StackError.stackTraceLimit];
  whoCalls();
  expect([StackError.prepareStackTrace, StackError.stackTraceLimit]).toEqual(before);
  const { stack } = new Error("later");
  expect(stack).toBeTypeOf("string");
  expect(stack).toMatch(/later/);
});

test("respects a hook of the program's own", () => {
  const StackError = Error as unknown as { prepareStackTrace: unknown };
  const before = StackError.prepareStackTrace;
  try {
    StackError.prepareStackTrace = () => "my own";
    expect(whoCalls()).toMatch(/call-site\.test\.ts(\?.*)?$/);
    expect(new Error("x").stack).toBe("my own");
  } finally {
    StackError.prepareStackTrace = before;
  }
});
