/** A pool whose `createPool` was made without features: it lacks what they add, and says so. */
import { expect, test } from "vitest";
import { type CreatePool, createPoolWith, type PoolKind } from "../../../src/api/pool/pool.ts";
import type { PoolOptions } from "../../../src/api/options/pool-options.ts";
import { declareTask } from "../../../src/api/tasks/declare.ts";

const none: PoolKind = {
  features: [],
  isMain: true,
  worker: "heddle-worker",
  loadWorkerCode: () => import("../../../src/mod-worker.ts"),
};
function createPool(options?: PoolOptions): CreatePool {
  const create = createPoolWith(none, createPool, options, arguments.length);
  return create;
}
const tasks = {
  *count() {
    yield 1;
  },
  double: (n: number) => 2 * n,
};

test.each([
  ["maxQueue", 1],
  ["budget", {}],
  ["metrics", true],
  ["host", { functions: {} }],
  ["minThreads", 1],
  ["permission", "off"],
  ["inliner", true],
])("has no option %s", (name, value) => {
  expect(() => createPool({ [name]: value } as PoolOptions)).toThrow(
    `createPool() has no option "${name}". It takes: threads, ringBytes, `,
  );
});

test("has no members of features, and refuses options of calls and generators", async () => {
  const moduleUrl = import.meta.url;
  await using pool = createPool({ threads: 1, moduleUrl })(tasks);
  for (const name of ["map", "scope", "sync", "broadcast", "stats", "profile", "needsDrain"]) {
    expect([name, name in pool]).toEqual([name, false]);
  }
  expect(() => pool.call.double.with({ timeoutMs: 1 })).toThrow(
    'with() has no option "timeoutMs". It takes: priority, retries.',
  );
  expect(() => pool.call.count()).toThrow("this heddle has no feature streams");
  expect(() => declareTask([], () => {}, { f: tasks.double, timeoutMs: 1 } as never)).toThrow(
    'task() has no option "timeoutMs". It takes: f, abortSignal, place, priority, retries.',
  );
  pool.addEventListener("workerExit", () => {});
  pool.ready.catch(() => {});
});
