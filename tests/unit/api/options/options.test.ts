import { describe, expect, test } from "vitest";
import "../../../support/features.ts";
import * as errors from "../../../../src/errors.ts";
import { InvalidArgumentError, UnknownTaskError } from "../../../../src/errors.ts";
import * as heddle from "../../../../src/mod.ts";
import * as heddleShared from "../../../../src/mod-shared.ts";
import { sharedErrorClasses } from "../../../../src/shared-errors.ts";
import * as heddleNats from "../../../../src/mod-nats.ts";
import { resolveOptions } from "../../../../src/api/options/options.ts";
import type { PoolOptions } from "../../../../src/api/options/pool-options.ts";
import type { WorkerLimits } from "../../../../src/runtimes/runtime.ts";
import { locateTask } from "../../../../src/api/tasks/task-map.ts";
import { importTask, task } from "../../../../src/features/task.ts";

/** A runtime that knows no limits. */
const refuseLimits = ({ resourceLimits, permission }: WorkerLimits): string[] =>
  resourceLimits === undefined && permission === undefined ? [] : ["this one knows none"];

describe("options", () => {
  test("defaults", () => {
    expect(resolveOptions({}, { cores: 8, refuseLimits, takesExecArgv: true })).toEqual({
      minThreads: 7,
      maxThreads: 7,
      share: { guaranteed: 1, isLimited: true },
      hardTimeoutMs: Infinity,
      recycleAfter: Infinity,
      startData: {},
      modules: {},
      transport: "shared",
      workerLimits: { resourceLimits: undefined, permission: undefined },
      workerOptions: { data: undefined, name: "heddle", thread: {} },
      startTimeoutMs: 60_000,
      teardownTimeoutMs: 1000,
      idleTimeoutMs: 10_000,
      ringBytes: { requests: 4 * 1024 * 1024, responses: 4 * 1024 * 1024 },
      maxPayloadBytes: Infinity,
      maxConcurrency: 1024,
      spinMs: 0.1,
      balancer: "adaptive",
      maxQueue: Infinity,
      queuePolicy: "reject",
      keepAlive: false,
      onUnavailable: "error",
      metrics: false,
    });
    expect(resolveOptions({}, { cores: 1, refuseLimits, takesExecArgv: true }).maxThreads).toBe(1);
  });

  test("the number of threads, with a budget and without", () => {
    const budget = heddle.threadBudget({ max: 5 });
    const resolve = (options: PoolOptions) => {
      const runtime = { cores: 4, refuseLimits, takesExecArgv: true };
      const { minThreads, maxThreads, share } = resolveOptions(options, runtime);
      return [minThreads, maxThreads, share.guaranteed, share.isLimited];
    };
    expect(resolve({})).toEqual([3, 3, 1, true]);
    expect(resolve({ threads: "auto" })).toEqual([3, 3, 1, true]);
    expect(resolve({ minThreads: 0 })).toEqual([0, 3, 0, true]);
    expect(resolve({ minThreads: 6 })).toEqual([6, 6, 6, true]);
    expect(resolve({ threads: 3 })).toEqual([3, 3, 3, false]);
    expect(resolve({ maxThreads: 2 })).toEqual([2, 2, 2, false]);
    expect(resolve({ minThreads: 1, maxThreads: 8 })).toEqual([1, 8, 1, false]);
    expect(resolve({ budget })).toEqual([1, 5, 1, true]);
    expect(resolve({ budget, minThreads: 2 })).toEqual([2, 5, 2, true]);
    expect(resolve({ budget, minThreads: 7 })).toEqual([7, 7, 7, true]);
    expect(resolve({ budget, maxThreads: 2 })).toEqual([1, 2, 1, true]);
    expect(resolve({ budget, threads: 3 })).toEqual([3, 3, 3, true]);
    expect(resolve({ budget, threads: 3, minThreads: 1 })).toEqual([1, 3, 1, true]);
  });

  test("threadBudget takes a maximum, and pools only what it returns", () => {
    for (const max of [0, 1.5, "2", undefined, 1025]) {
      expect(() => heddle.threadBudget({ max } as never)).toThrow(
        /max must be an integer from 1 to 1024, got/,
      );
    }
    expect(() => heddle.threadBudget(3 as never)).toThrow("threadBudget() takes { max }, got 3.");
    expect(() => heddle.threadBudget({ max: 1, min: 1 } as never)).toThrow(/no option "min"/);
    expect(() => resolveOptions({ budget: { max: 3 } } as never, { cores: 1 } as never)).toThrow(
      "budget must be a budget that threadBudget() returned, got",
    );
  });

  test("ringBytes is one size for both directions or one for each", () => {
    const resolve = (ringBytes: Required<PoolOptions>["ringBytes"]) =>
      resolveOptions({ ringBytes }, { cores: 1, refuseLimits, takesExecArgv: true }).ringBytes;
    const usual = 4 * 1024 * 1024;
    expect(resolve(1024)).toEqual({ requests: 1024, responses: 1024 });
    expect(resolve({ requests: 1024, responses: 2048 })).toEqual({
      requests: 1024,
      responses: 2048,
    });
    expect(resolve({ responses: 2048 })).toEqual({ requests: usual, responses: 2048 });
    expect(resolve({})).toEqual({ requests: usual, responses: usual });
  });

  const bad: [PoolOptions | unknown, RegExp][] = [
    [{ threads: 3, maxThreads: 2 }, /threads, 3, must not be more than maxThreads, 2/],
    [{ minThreads: 3, maxThreads: 2 }, /minThreads, 3, must not be more than maxThreads, 2/],
    [
      { maxAbandonedThreads: -1 },
      /maxAbandonedThreads must be an integer from 0 to \d+, or Infinity, got -1/,
    ],
    [{ threads: 2, minThreads: 3 }, /minThreads, 3, must not be more than threads, 2/],
    [{ ringBytes: 3000 }, /power of two from 1024 to/],
    [{ threads: -1 }, /threads must be an integer from 0 to 1024, got -1/],
    [{ threads: 1.5 }, /threads .* got 1.5/],
    [{ threads: NaN }, /threads .* got NaN/],
    [{ threads: "2" }, /threads .* got "2"/],
    [{ threads: null }, /createPool|threads/],
    [{ ringBytes: 1000 }, /ringBytes .* got 1000/],
    [{ ringBytes: 1023 }, /ringBytes .* got 1023/],
    [{ ringBytes: 3000 }, /ringBytes must be a power of two .* got 3000/],
    [{ ringBytes: 2 ** 31 }, /ringBytes/],
    [{ ringBytes: { requests: 3000 } }, /ringBytes\.requests must be a power of two .* got 3000/],
    [{ ringBytes: { responses: "1k" } }, /ringBytes\.responses .* got "1k"/],
    [{ ringBytes: [] }, /ringBytes must be an integer or { requests, responses }/],
    [
      { ringBytes: new Map([["requests", 1024]]) },
      /ringBytes must be an integer or { requests, responses }/,
    ],
    [
      { ringBytes: Object.create({ requests: 1024 }) },
      /ringBytes must be an integer or { requests, responses }/,
    ],
    [{ ringBytes: { request: 1024 } }, /ringBytes has no option "request".*requests, responses/],
    [{ maxConcurrency: 0 }, /maxConcurrency .* got 0/],
    [{ keepAlive: 1 }, /keepAlive must be a boolean, got 1/],
    [{ moduleUrl: 7 }, /moduleUrl must be a string or URL, got 7/],
    [{ mapError: "x" }, /mapError must be a function, got "x"/],
    [{ transport: "wire" }, /transport must be "auto", "shared" or "messages", got "wire"/],
    [
      { maxWorkerBytes: 0.5 },
      /maxWorkerBytes must be an integer from 1 to \d+, or Infinity, or a percentage such as "20%", at most "100%", got 0.5/,
    ],
    [{ startTimeoutMs: 0 }, /startTimeoutMs must be a number of milliseconds above 0.* got 0/],
    [
      { teardownTimeoutMs: -1 },
      /teardownTimeoutMs must be a number of milliseconds from 0, .* got -1/,
    ],
    [{ maxQueue: -1 }, /maxQueue must be an integer from 0 .* got -1/],
    [{ resourceLimits: 64 }, /resourceLimits must be an object, got 64/],
    [{ resourceLimits: { heap: 1 } }, /resourceLimits has no "heap".*maxOldGenerationSizeMb/],
    [
      { resourceLimits: { maxOldGenerationSizeMb: 0 } },
      /maxOldGenerationSizeMb must be a number of MiB above 0, got 0/,
    ],
    [
      { resourceLimits: { stackSizeMb: 2 } },
      /cannot enforce these limits on workers: this one knows none/,
    ],
    [{ permission: "custom" }, /permission must be "off", "strict" or an object/],
    [{ permission: 1 }, /permission must be an object, got 1/],
    [{ permission: { sys: true } }, /permission has no "sys" that applies to threads/],
    [{ permission: { net: ["example.com"] } }, /permission.net must be a boolean/],
    [{ permission: { read: [1] } }, /permission.read must be a boolean or an array of strings/],
    [{ permission: "strict" }, /this one knows none\. Node can deny to threads/],
    [{ thread: 2 }, /no option "thread"; did you mean "threads"\? It takes: threads/],
    [{ queueLimit: 2 }, /no option "queueLimit"\. It takes: threads/],
    [
      { retries: 2 },
      /no option "retries", which is one of calls: pool\.call\.f\.with\(\{ retries \}\)/,
    ],
    [7, /takes an object of options, got 7/],
    [null, /takes an object of options, got null/],
    [[], /takes an object of options, got \[object Array\]/],
    [new Map(), /takes an object of options, got \[object Map\]/],
    [{ permission: [] }, /permission must be an object, got \[object Array\]/],
    [{ inliner: [] }, /inliner must be a boolean or an object, got \[object Array\]/],
  ];
  test.each(bad)("%j is refused", (options, message) => {
    expect(() =>
      resolveOptions(options as PoolOptions, { cores: 4, refuseLimits, takesExecArgv: true })
    ).toThrow(
      InvalidArgumentError,
    );
    expect(() =>
      resolveOptions(options as PoolOptions, { cores: 4, refuseLimits, takesExecArgv: true })
    ).toThrow(
      message,
    );
  });

  test("each option is read once", () => {
    const reads: string[] = [];
    const given: PoolOptions = {
      threads: "auto",
      minThreads: 1,
      maxThreads: 2,
      maxQueue: "auto",
      permission: "off",
      context: { capture: () => 1, run: "file:///run.js" },
      inliner: false,
      worker: {},
      onUnavailable: "host",
      debug: false,
      transport: "auto",
    };
    const options: PoolOptions = {};
    for (const [key, value] of Object.entries(given)) {
      const get = (): unknown => (reads.push(key), value);
      Object.defineProperty(options, key, { get, enumerable: true });
    }
    resolveOptions(options, { cores: 4, refuseLimits, takesExecArgv: true });
    expect(reads.toSorted()).toEqual(Object.keys(given).toSorted());
  });

  test("without shared memory nobody spins, and there are no metrics", () => {
    const runtime = { cores: 4, refuseLimits, takesExecArgv: true, sharesMemory: false };
    const { transport, spinMs } = resolveOptions({ spinMs: 1 }, runtime);
    expect([transport, spinMs]).toEqual(["messages", 0]);
    expect(() => resolveOptions({ metrics: true }, runtime)).toThrow(/metrics needs memory/);
    expect(() => resolveOptions({ transport: "shared" }, runtime)).toThrow(/cross-origin isolated/);
  });

  test("HEDDLE_DEBUG stands for the option debug", () => {
    const debugOf = (variable: string | undefined, options: PoolOptions = {}) => {
      const env = (name: string) => name === "HEDDLE_DEBUG" ? variable : undefined;
      const runtime = { cores: 4, refuseLimits, takesExecArgv: true, env };
      return resolveOptions(options, runtime).debug;
    };
    expect([undefined, "", "0", "false"].map((text) => debugOf(text))).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
    expect(debugOf("1")).toEqual(debugOf(undefined, { debug: true }));
    expect(debugOf("waits, calls")).toEqual(["calls", "waits"]);
    expect(debugOf("callers")).toEqual(["callers"]);
    expect(debugOf("1", { debug: false })).toBeUndefined();
  });

  test("inherited options are ignored", () => {
    expect(
      resolveOptions(Object.create({ threads: 99 }) as PoolOptions, {
        cores: 4,
        refuseLimits,
        takesExecArgv: true,
      })
        .maxThreads,
    ).toBe(3);
  });
});

describe("tasks", () => {
  const runtime = { toModuleUrl: (location: string) => new URL(location, "file:///").href };

  test("a bare function is looked up under its key, in the calling module", () => {
    function square() {}
    expect(locateTask("key", square, "/m.ts", runtime)).toEqual({
      moduleUrl: "file:///m.ts",
      exportName: "key",
      declared: undefined,
      functionName: "square",
      functionText: String(square),
    });
    expect(() => locateTask("square", square, undefined, runtime)).toThrow(/moduleUrl/);
  });

  test("task() remembers the place of its declaration", () => {
    const declared = task({ f: () => 1 });
    const located = locateTask("any", declared, "/other.ts", runtime);
    expect(located.moduleUrl).toMatch(/options\.test/);
    expect(located.declared?.place).toMatch(/options\.test\.ts:\d+:\d+$/);
    expect(located.declared?.text).toBe("() => 1");
  });

  test("a place that is evaluated more than once identifies no task", () => {
    const [first, second] = [1, 2].map((n) => task({ f: () => n }));
    expect(locateTask("any", first, "/other.ts", runtime).declared).toBeUndefined();
    expect(locateTask("any", second, "/other.ts", runtime).declared).toBeUndefined();
  });

  test("a relative href of importTask() is relative to the calling module", () => {
    const located = locateTask("key", importTask({ href: "./x.ts" }), "/m.ts", runtime);
    expect(located.moduleUrl).toBe(new URL("./x.ts", import.meta.url).href);
    expect(located.exportName).toBe("default");
    const absolute = locateTask("key", importTask({ href: "/y.ts", name: "f" }), "/m.ts", runtime);
    expect(absolute).toMatchObject({ moduleUrl: "file:///y.ts", exportName: "f" });
  });

  test.each(["tasks.ts", "./tasks.ts", "../tasks.ts"])("moduleUrl %s is refused", (moduleUrl) => {
    expect(() => resolveOptions({ moduleUrl }, { cores: 4, refuseLimits, takesExecArgv: true }))
      .toThrow(
        /moduleUrl must be absolute.*tasks\.ts/,
      );
  });

  test.each([null, undefined, 7, "f", {}, []])("%j is not a task", (entry) => {
    expect(() => locateTask("key", entry, "/m.ts", runtime)).toThrow(InvalidArgumentError);
  });

  test("a class is no task, and an empty path is no module", () => {
    class Point {}
    const options = { threads: 1, moduleUrl: "file:///m.ts" };
    expect(() => heddle.createPool(options)({ Point } as never)).toThrow(
      'Task "Point" is a class, which cannot be called',
    );
    expect(() => task({ f: Point as never })).toThrow("got the class Point");
    for (const path of ["", " "]) {
      expect(() => heddle.createPool(options)(path)).toThrow(InvalidArgumentError);
      expect(() => heddle.createPool(options)({ f: importTask({ href: path }) })).toThrow(
        `The URL, path or name of a module is ${JSON.stringify(path)}.`,
      );
      expect(() => heddle.createPool({ ...options, worker: { setup: path } })).toThrow(
        InvalidArgumentError,
      );
    }
    // A method of this name is written like a class.
    const { class: method } = { class: (): number => 1 };
    expect(() => heddle.createPool({ ...options, minThreads: 0 })({ method })).not.toThrow();
  });

  test("invalid declarations are refused", () => {
    expect(() => task({} as never)).toThrow(InvalidArgumentError);
    expect(() => task({ f: 1 } as never)).toThrow(InvalidArgumentError);
    expect(() => task({ f: () => 1, timout: 5 } as never)).toThrow(/no option "timout"/);
    expect(() => importTask({ href: 1, name: "x" } as never)).toThrow(InvalidArgumentError);
  });
});

test("errors have a code and the name of their class", () => {
  const error = new UnknownTaskError("a", ["b"]);
  expect([error.name, error.code]).toEqual(["UnknownTaskError", "HEDDLE_UNKNOWN_TASK"]);
  expect(error.message).toBe('No task is named "a" in this pool. It has: b.');
  const { errorClasses, isHeddleError: _, ...exported } = errors;
  expect(Object.keys(errorClasses).sort()).toEqual(Object.keys(exported).sort());
  for (const [name, found] of Object.entries(errorClasses)) {
    // Those of calls to other machines are exported by `heddle/nats`.
    const from = name === "NoMachinesError" ? heddleNats : heddle;
    expect([found.prototype.name, from[name as keyof typeof from]]).toEqual([name, found]);
  }
  for (const [name, found] of Object.entries(sharedErrorClasses)) {
    const from = heddleShared as unknown as Record<string, unknown>;
    expect([found.prototype.name, from[name]]).toEqual([name, found]);
  }
});
