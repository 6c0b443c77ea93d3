import { expect, test } from "vitest";
import { createSettings, PLAIN } from "../../../../src/host/calls/call-settings.ts";
import {
  type CallFeature,
  dropArguments,
  replaceArguments,
  useCalls,
} from "../../../../src/host/calls/feature.ts";

const dropped: unknown[] = [];
const onRetries = (): void => {};
const onRun = (): void => {};
const feature: CallFeature = {
  name: "first",
  whenMade: { retries: onRetries, isBlocking: onRun },
  replaceArguments: (args, error) =>
    error === "mine" ? { args: [...args, "first"], settings: {} } : undefined,
  dropArguments: (args) => void dropped.push(args),
};

test("without features nothing is done for a call, and nothing replaces its arguments", () => {
  expect(createSettings({ retries: 1 }).onMade).toEqual([]);
  expect(replaceArguments([1], "mine")).toBeUndefined();
  dropArguments([1]);
  expect(dropped).toEqual([]);
});

test("features attach once, and settings know what each asks for", () => {
  for (const each of [feature, feature]) useCalls(each);
  useCalls({
    name: "second",
    whenMade: { retries: onRun },
    replaceArguments: (args) => ({ args: [...args, "second"], settings: {} }),
  });
  expect(createSettings({ retries: 1 }).onMade).toEqual([onRetries, onRun]);
  expect(createSettings({ isBlocking: true }).onMade).toEqual([onRun]);
  expect(createSettings({ priority: 1 }).onMade).toEqual([]);
  expect(replaceArguments([1], "mine")?.args).toEqual([1, "first"]);
  expect(replaceArguments([1], "other")?.args).toEqual([1, "second"]);
  dropArguments([1]);
  expect(dropped).toEqual([[1]]);
});

test("settings that differ in nothing are those of a plain call", () => {
  expect(createSettings({})).toBe(PLAIN);
  expect(createSettings({ priority: 0, timeoutMs: Infinity, signal: undefined })).toBe(PLAIN);
  expect(createSettings({ timeoutMs: 1 })).not.toBe(PLAIN);
});
