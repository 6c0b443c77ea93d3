/** What `heddle/core` says of features is what they add. */
import { expect, test } from "vitest";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Feature } from "../../../src/api/pool/uses.ts";
import { loaded } from "../../../src/core/worker.ts";
import { OF_ALL, PARTS, takeFeatures, usesOf } from "../../../src/core/uses.ts";
import { hostFeatures } from "../../../src/features/host.ts";
import { workerFeatures } from "../../../src/features/worker.ts";

const folder = fileURLToPath(new URL("../../../src/features/", import.meta.url));

/** The functions of `heddle/features`, by their names. */
const functions = new Map<string, () => Feature>();
for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
  if (!path.endsWith("/use.ts")) continue;
  const module = await import(join(folder, path)) as Record<string, () => Feature>;
  const [name = "", make] = Object.entries(module).find(([name]) => name in PARTS) ?? [];
  functions.set(name, make!);
}

/** What the kernel has as well. */
const OF_KERNEL = ["threads"];
/** Every pool is an EventTarget. */
const EVERYWHERE = ["addEventListener", "removeEventListener"];
/** Options of `task()` that no feature has to check. */
const OF_TASKS = ["abortSignal"];

test("each feature has a function of its name, which brings what it needs", () => {
  expect([...functions.keys()].toSorted()).toEqual(Object.keys(PARTS).toSorted());
  for (const [name, make] of functions) {
    const names = make().adds.map((added) => added.name);
    expect(names.at(-1)).toBe(name);
    const needs = [...hostFeatures, ...workerFeatures]
      .filter((feature) => feature.name === name).flatMap((feature) => feature.needs ?? []);
    expect([name, needs.filter((need) => !names.includes(need))]).toEqual([name, []]);
  }
});

test("the table has every option and member that a feature adds, in the order of the features", () => {
  const used = hostFeatures.filter((feature) => !OF_ALL.includes(feature));
  expect(Object.keys(PARTS)).toEqual(used.map(({ name }) => name));
  const words = (text: string): string[] => text.split(" ").filter(Boolean).toSorted();
  for (const { name, options = {}, callOptions = {}, members = {} } of used) {
    const [ofPool, ofCalls, ofHandle] = PARTS[name as keyof typeof PARTS];
    expect([name, words(ofPool)])
      .toEqual([name, Object.keys(options).filter((each) => !OF_KERNEL.includes(each)).toSorted()]);
    expect([name, words(ofCalls).filter((each) => !OF_TASKS.includes(each))])
      .toEqual([name, Object.keys(callOptions).toSorted()]);
    expect([name, words(ofHandle)]).toEqual([
      name,
      Object.keys(members).filter((each) => !EVERYWHERE.includes(each)).toSorted(),
    ]);
  }
});

test("workers load the features that have a side there, in the order of the others", () => {
  expect(loaded).toEqual(workerFeatures.map(({ name }) => name));
});

test("features are taken once each, in their order, however they are given", () => {
  const all = ["scopes", "limits", "values"].map((name) => functions.get(name)!());
  const { features, rest } = takeFeatures({ use: [...all, ...all], threads: 1 });
  expect(features.map(({ name }) => name))
    .toEqual(["rights", "reasons", "values", "streams", "limits", "map", "scopes"]);
  expect(rest).toEqual({ threads: 1 });
  expect(takeFeatures(undefined)).toEqual({ features: [], rest: undefined });
});

test.each<[unknown, string]>([
  ["limits", 'use must be a list of features: [limits()], got "limits".'],
  [[functions.get("limits")], "use takes features, got the function limits: call it, limits()."],
  [["limits"], 'use takes features such as limits(), got "limits".'],
  [[null], "use takes features such as limits(), got null."],
  [[{ adds: [] }], "use got a feature of another copy of heddle: load heddle/core and"],
])("use: %o is refused", (use, message) => {
  expect(() => takeFeatures({ use })).toThrow(message);
});

test("what needs another feature is refused by its name", () => {
  const uses = usesOf([]);
  expect(() => uses.needForPool({ threads: 1, maxQueue: 1 })).toThrow(
    'maxQueue needs queue(): createPool({ use: [queue()] }), with queue of "heddle/features/queue".',
  );
  expect(() => uses.needForOptions({ priority: 1, affinity: 1 }, "with()")).toThrow(
    "affinity of with() needs keys()",
  );
  expect(() => uses.needForMember("map")).toThrow("pool.map needs map()");
  uses.needForMember("call");
  uses.needForOptions({ priority: 1, retries: 1 }, "with()");
  usesOf(functions.get("keys")!().adds).needForOptions({ affinity: 1 }, "with()");
});
