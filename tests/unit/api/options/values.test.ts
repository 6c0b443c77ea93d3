/** One rule for the values of all options (docs/options.md): generated from the options that the docs list. */
import { describe, expect, test } from "vitest";
import "../../../support/features.ts";
import { readOptions } from "../../../../scripts/docs-options.ts";
import { Profiling } from "../../../../src/features/watching/profile/host/profile.ts";
import { setMappable } from "../../../../src/features/calls/map/host/mappable.ts";
import { Mapping } from "../../../../src/features/calls/map/host/map.ts";
import { checkBroadcastOptions } from "../../../../src/features/calls/keys/broadcast-options.ts";
import { checkCallOptions, settingsOf } from "../../../../src/api/options/call-options.ts";
import { checkShutdown, resolveOptions } from "../../../../src/api/options/options.ts";
import type { PoolOptions } from "../../../../src/api/options/pool-options.ts";
import { dedupe, type DedupeOptions } from "../../../../src/api/calls/dedupe.ts";
import { checkScopeOptions } from "../../../../src/features/calls/scopes/scope-options.ts";
import {
  threadBudget,
  type ThreadBudgetOptions,
} from "../../../../src/features/workers/scaling/host/thread-budget.ts";
import { task } from "../../../../src/features/task.ts";
import { fileRanges } from "../../../../src/files/file-ranges.ts";
import { InvalidArgumentError } from "../../../../src/errors.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import { BLOCK, checkWait, WAIT } from "../../../../src/shared/given.ts";
import { channelOptions } from "../../../../src/shared/channel/channel.ts";
import { cacheOptions, checkTtl, mapOptions } from "../../../../src/shared/map/options.ts";
import { vectorOptions } from "../../../../src/shared/vector/shared-vector.ts";

const runtime = {
  cores: 4,
  refuseLimits: () => [],
  takesExecArgv: true,
  env: () => undefined,
  systemMemory: () => ({ totalBytes: 1000, freeBytes: 500 }),
};
const pool = (options: object): void => void resolveOptions(options as PoolOptions, runtime);

const target = {};
const f = (): void => {};
setMappable(f, { owner: target } as never);
const mapping = new Mapping(target, 2, { ...currentRuntime, warn: () => {} });
const profiling = new Profiling({
  threads: () => [],
  isClosing: () => false,
  events: new EventTarget(),
});

/** What checks the options of an interface. Each throws or rejects. */
const CHECKS: Readonly<Record<string, readonly ((options: object) => unknown)[]>> = {
  PoolOptions: [pool],
  InlinerLimits: [(inliner) => pool({ inliner })],
  RingSizes: [(ringBytes) => pool({ ringBytes })],
  ResourceLimits: [(resourceLimits) => pool({ resourceLimits })],
  WorkerOptions: [(worker) => pool({ worker })],
  ContextOptions: [(context) => pool({ context: { capture: f, run: "./x.ts", ...context } })],
  TaskOptions: [settingsOf, (options) => task({ ...options, f })],
  CallOptions: [checkCallOptions],
  BroadcastOptions: [checkBroadcastOptions],
  MapOptions: [
    (options) => mapping.map(f, [], options),
    (options) => mapping.forEach(f, [], options),
    (options) => mapping.reduce(f, [], options),
  ],
  ShutdownOptions: [(options) => checkShutdown(options, 5000)],
  DedupeOptions: [(options) => dedupe(() => Promise.resolve(), options as DedupeOptions)],
  ProfileOptions: [(options) => profiling.profile(1, options)],
  ScopeOptions: [
    (options) => checkScopeOptions(options, true, undefined),
    (options) => checkScopeOptions(options, false, undefined),
  ],
  ThreadBudgetOptions: [(options) => threadBudget(options as ThreadBudgetOptions)],
  FileRangesOptions: [(options) => fileRanges(new URL(import.meta.url), options)],
  SharedMapOptions: [(options) => mapOptions("", options), (options) => cacheOptions("", options)],
  SharedCacheOptions: [(options) => cacheOptions("", options)],
  ChannelOptions: [(options) => channelOptions("", options)],
  SharedVectorOptions: [(options) => vectorOptions("", "i8", options)],
  SetOptions: [({ ttlMs = 1 }: { ttlMs?: number }) => checkTtl(ttlMs)],
  WaitOptions: [(options) => checkWait("wait", options, WAIT)],
  BlockOptions: [(options) => checkWait("waitSync", options, BLOCK)],
};

/** Values that are not a number, or of which `null` says something. */
const TAKES_NULL = ["signal", "data", "timeoutValue"];
const IS_KEY = ["affinity"];
/** Options whose unit is no whole one. */
const TAKES_FRACTIONS = /Ms$|Mb$|^priority$/;

const all = readOptions();
const cases = Object.entries(CHECKS).flatMap(([owner, checks]) =>
  all.get(owner)!.flatMap((option) => checks.map((check) => ({ owner, check, option })))
);
const numeric = cases.filter(({ option: { name, type } }) =>
  /\bnumber\b|Priority/.test(type) && !IS_KEY.includes(name)
);
const label = ({ owner, option: { name } }: typeof cases[number]): string => `${owner}.${name}`;

async function isTaken(
  { check, option: { name } }: typeof cases[number],
  value: unknown,
): Promise<boolean> {
  try {
    await check({ [name]: value });
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) return true;
    // What it is for fails: there are no items, and no worker.
    if (/^reduce\(\) of no items|^profile\(\) takes the id/.test(error.message)) return true;
    expect(error.message).toContain(name);
    return false;
  }
  return true;
}

/** Which of the cases take the value. */
async function taken(of: readonly typeof cases[number][], value: unknown): Promise<string[]> {
  const results = await Promise.all(of.map((each) => isTaken(each, value)));
  return of.filter((_, index) => results[index]).map(label);
}

describe("options", () => {
  test("that are numbers are found", () => {
    expect(numeric.length).toBeGreaterThan(35);
  });

  test("undefined is as if it were not given", async () => {
    const optional = cases.filter(({ option }) => !option.isRequired);
    expect(await taken(optional, undefined)).toEqual(optional.map(label));
  });

  test("null is refused, but for signals and values of the program", async () => {
    const others = cases.filter(({ option }) => !TAKES_NULL.includes(option.name));
    expect(await taken(others, null)).toEqual([]);
  });

  const none = [NaN, -Infinity, "5", 5n, true, [], [5], 2 ** 53, 2 ** 60, Number.MAX_VALUE];
  test.each(none.map((value) => [typeof value, String(value), value]))(
    "%s %s is no number of any option",
    async (_type, _text, value) => expect(await taken(numeric, value)).toEqual([]),
  );

  test("Infinity is taken where the text or the default names it", async () => {
    const named = numeric.filter(({ option }) =>
      `${option.text} ${option.default}`.includes("Infinity")
    );
    expect(await taken(numeric, Infinity)).toEqual(named.map(label));
  });

  test("negative numbers are refused but for priorities, fractions but for durations and sizes in MiB", async () => {
    const fractions = numeric.filter(({ option }) => TAKES_FRACTIONS.test(option.name));
    expect(await taken(numeric, 0.5)).toEqual(fractions.map(label));
    const priorities = numeric.filter(({ option }) => option.name === "priority");
    expect(await taken(numeric, -1)).toEqual(priorities.map(label));
  });
});
