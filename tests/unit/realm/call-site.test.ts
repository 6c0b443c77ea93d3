import { expect, test } from "vitest";
import { callerOf, placeIn } from "../../../src/realm/call-site.ts";

function whoCalls(): string | undefined {
  // Not as a tail call: JavaScriptCore drops the frame of a function that ends in one.
  const caller = callerOf(whoCalls);
  return caller;
}

test("finds the module of the caller", () => {
  expect(whoCalls()).toMatch(/call-site\.test\.ts(\?.*)?$/);
});

test("leaves stack settings unchanged", () => {
  const StackError = Error as unknown as { prepareStackTrace: unknown; stackTraceLimit: number };
  const before = [StackError.prepareStackTrace, StackError.stackTraceLimit];
  whoCalls();
  expect([StackError.prepareStackTrace, StackError.stackTraceLimit]).toEqual(before);
  const { stack } = new Error("later");
  expect(stack).toBeTypeOf("string");
  expect(stack).toMatch(/later/);
});

test.each([
  ["    at build (file:///a%20b/tasks.mjs:3:5)", "file:///a%20b/tasks.mjs"],
  ["    at file:///tasks.mjs:3:5", "file:///tasks.mjs"],
  ["    at async file:///tasks.mjs:3:5", "file:///tasks.mjs"],
  ["    at Object.<anonymous> (/a (b)/tasks.cjs:3:5)", "/a (b)/tasks.cjs"],
  ["    at new Pool [as Mine] (C:\\tasks.mjs:3:5)", "C:\\tasks.mjs"],
])("finds the place in a stack text: %s", (frame, module) => {
  expect(placeIn(`Error\n${frame}\n    at file:///other.mjs:1:1`)).toBe(`${module}:3:5`);
  expect(placeIn("Error\n    at native code")).toBeUndefined();
});

test("keeps the program's own prepareStackTrace", () => {
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
