/** The functions of `pool.call`: which names there are, what is submitted for a call, and what `with` adds. */
import { describe, expect, test } from "vitest";
import "../../support/features.ts";
import {
  type CallTarget,
  createCallProxy,
  createModuleCalls,
} from "../../../src/api/calls/call-proxy.ts";
import { mappableOf } from "../../../src/features/calls/map/host/mappable.ts";
import type { CallOptions } from "../../../src/api/options/call-options.ts";
import type { HostTask, PoolSpec } from "../../../src/api/tasks/pool-spec.ts";
import { f64, struct } from "../../../src/features/values/structs/schema/schema.ts";
import { signatureOf } from "../../../src/features/values/structs/schema/signature.ts";
import { Transfer } from "../../../src/features/values/rare/transfer.ts";
import { UnknownTaskError } from "../../../src/errors.ts";
import { type CallSettings, PLAIN } from "../../../src/host/calls/call-settings.ts";
import type { CalledTask } from "../../../src/host/calls/queued-call.ts";
import type { PoolParts } from "../../../src/api/pool/parts.ts";
import { StreamCalls } from "../../../src/features/calls/streams/host/stream-calls.ts";
import { EMITTING } from "../../../src/protocol/task-variants.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";

interface Submitted {
  readonly task: CalledTask;
  readonly args: readonly unknown[];
  /** Undefined: a call by `submitPlain`. */
  readonly settings: CallSettings | undefined;
}

interface Given {
  readonly names?: readonly string[];
  readonly task?: Partial<HostTask>;
  readonly options?: Partial<PoolSpec["options"]>;
  readonly signatures?: PoolSpec["signatures"];
}

const POINT = struct({ x: f64 });
const NAMES = ["add", "multiply"];

/** What the functions of a pool are made of. Its calls resolve with "done" at once. */
function createParts({ names = NAMES, task = {}, options = {}, signatures = [] }: Given = {}) {
  const submitted: Submitted[] = [];
  const state = { refusal: undefined as Error | undefined, notices: 0 };
  const submit = (called: Submitted, resolve: (value: unknown) => void): undefined => {
    if (state.refusal !== undefined) throw state.refusal;
    submitted.push(called);
    resolve("done");
  };
  const entry: CallTarget["entry"] = {
    submit: (task, args, resolve, _reject, settings) => submit({ task, args, settings }, resolve),
    submitPlain: (task, args, resolve) => submit({ task, args, settings: undefined }, resolve),
  };
  const sources: { readonly name: string }[] = [];
  const tasks: HostTask[] = [];
  /** Describes the tasks of a module pool. */
  const describeTasks = (): void => {
    for (const name of names) {
      sources.push({ name });
      tasks.push({ settings: {}, isStream: false, f: undefined, check: undefined, ...task });
    }
  };
  const described = { sources, tasks, signatures, runtime: currentRuntime };
  const spec = { ...described, options } as unknown as PoolSpec;
  const target: CallTarget = {
    entry,
    pool: {},
    dispatcher: { onTasksKnown: () => state.notices++ } as unknown as CallTarget["dispatcher"],
    features: { part: () => new StreamCalls({} as unknown as PoolParts) },
  };
  return { describeTasks, spec, state, submitted, target };
}

function createPool(given?: Given) {
  const { describeTasks, spec, target, ...parts } = createParts(given);
  describeTasks();
  const call = createCallProxy(spec, target);
  return { ...parts, call, target };
}

function createModulePool(given?: Given) {
  const { describeTasks, spec, target, ...parts } = createParts(given);
  const { calls: call, onKnown } = createModuleCalls(spec, target);
  const become = (): void => {
    describeTasks();
    onKnown();
  };
  return { ...parts, call, become };
}

/** Reads a name that TypeScript knows to be a function. */
const read = (table: object, key: PropertyKey): unknown => Reflect.get(table, key);
const PROBED = ["then", "toJSON", "constructor", "inspect", "$$typeof", "asymmetricMatch"];

describe("names", () => {
  test("of tasks are own properties, whatever objects usually have by that name", () => {
    const names = ["add", "toString", "__proto__", "constructor"];
    const { call } = createPool({ names });
    expect(Reflect.ownKeys(call)).toEqual(names);
    for (const name of names) expect(typeof read(call, name)).toBe("function");
    expect(() => Object.assign(call, { add: 1 })).toThrow(TypeError);
  });

  test("of no task reject with an error that says what there is, and what may be meant", async () => {
    const { call } = createPool();
    const made = (name: string): unknown => (read(call, name) as () => unknown)();
    for (const name of ["multipy", "hasOwnProperty", "valueOf", ""]) {
      await expect(made(name)).rejects.toThrow(UnknownTaskError);
    }
    expect("valueOf" in call).toBe(false);
    const list = "It has: add, multiply.";
    const hint = `; did you mean "multiply"? ${list}`;
    await expect(made("multipy")).rejects.toThrow(`"multipy" in this pool${hint}`);
    await expect(made("zzz")).rejects.toThrow(`"zzz" in this pool. ${list}`);
  });

  test("that other code reads from any object are undefined, and so are symbols", async () => {
    for (const call of [createPool().call, createModulePool().call]) {
      const keys = [
        ...PROBED,
        Symbol.toPrimitive,
        Symbol.iterator,
        Symbol.for("nodejs.util.inspect"),
      ];
      for (const key of keys) expect([key, read(call, key)]).toEqual([key, undefined]);
      expect(await Promise.resolve(call)).toBe(call);
      expect(JSON.stringify(call)).toBe("{}");
    }
  });
});

describe("a call", () => {
  test("submits the task of its name with its arguments, by a function that stays the same", async () => {
    const { call, submitted } = createPool();
    const { multiply } = call;
    expect(await multiply!(1, "two")).toBe("done");
    expect(submitted).toEqual([{ task: 1, args: [1, "two"], settings: undefined }]);
    expect(call.multiply).toBe(multiply);
  });

  test("that is refused rejects", async () => {
    const { call, state } = createPool();
    state.refusal = new Error("closed");
    await expect(call.add!()).rejects.toBe(state.refusal);
    await expect(call.add!.with({ priority: "high" })()).rejects.toBe(state.refusal);
  });

  test("is submitted with settings if its pool or its task needs more than a plain call", async () => {
    const cases: readonly Given[] = [
      { options: { capture: () => 1 } },
      { options: { balancer: () => 0 } },
      { signatures: [signatureOf(undefined, POINT)] },
    ];
    for (const given of cases) {
      const { call, submitted } = createPool(given);
      await call.add!(1);
      expect(submitted[0]!.settings).toBe(PLAIN);
    }
    const task = { settings: { retries: 2 } };
    const { call, submitted } = createPool({ task, options: { settings: { hardTimeoutMs: 70 } } });
    await call.add!(1);
    expect(submitted[0]!.settings).toMatchObject({ retries: 2, hardTimeoutMs: 70 });
  });

  test("of a generator task is a stream, whose time limit is always an error", async () => {
    const { call, state, submitted } = createPool({ task: { isStream: true } });
    const stream = call.add!.with({ timeoutMs: 9, timeoutValue: 1 })() as AsyncIterator<unknown>;
    expect(await stream.next()).toEqual({ done: true, value: "done" });
    expect(submitted[0]!.settings).toMatchObject({ timeoutMs: 9, timeoutValue: undefined });
    state.refusal = new Error("closed");
    await expect((call.add!() as AsyncIterator<unknown>).next()).rejects.toBe(state.refusal);
  });
});

describe("with", () => {
  test("returns a new function and leaves the one before unchanged", async () => {
    const { call, submitted } = createPool();
    const high = call.add!.with({ priority: "high" });
    expect(high).not.toBe(call.add!.with({ priority: "high" }));
    await high(1);
    await call.add!(2);
    expect(submitted).toMatchObject([
      { task: 0, args: [1], settings: { priority: 1 } },
      { task: 0, args: [2], settings: undefined },
    ]);
  });

  test("overrides options of the task and of an earlier with, and keeps the others", async () => {
    const { call, submitted } = createPool({ task: { settings: { retries: 2, timeoutMs: 50 } } });
    await call.add!.with({ timeoutMs: 60, killAfterMs: 5 }).with({ killAfterMs: 6 })();
    expect(submitted[0]!.settings).toMatchObject({ retries: 2, timeoutMs: 60, killAfterMs: 6 });
  });

  test("adds signals up", async () => {
    const { call, submitted } = createPool();
    const [one, other] = [new AbortController(), new AbortController()];
    const added = call.add!.with({ signal: one.signal });
    await added();
    expect(submitted[0]!.settings!.signal).toBe(one.signal);
    for (const controller of [one, other]) {
      await added.with({ signal: other.signal }).with({ signal: null })();
      const { signal } = submitted.at(-1)!.settings!;
      expect(signal!.aborted).toBe(controller === other);
      one.abort();
    }
  });

  test("without options makes plain calls, and balancer fifo ignores priorities", async () => {
    const { call, submitted } = createPool({ options: { fixedSettings: { priority: 0 } } });
    await call.add!.with({})();
    await call.add!.with({ priority: "high" })();
    await call.add!.with({ priority: "high", retries: 1 })();
    const [none, plain, retried] = submitted.map(({ settings }) => settings);
    expect(none).toBe(PLAIN);
    expect(plain).toBe(PLAIN);
    expect(retried).toMatchObject({ priority: 0, retries: 1 });
  });
});

describe("options of with", () => {
  test("are refused at once if they are wrong", () => {
    const { call } = createPool();
    const wrong: readonly [options: unknown, message: string][] = [
      [{ timeout: 5 }, 'with() has no option "timeout"; did you mean "timeoutMs"?'],
      [{ retries: -1 }, "retries must be an integer from 0 to 1000"],
      [5, "with() takes an object of options, got"],
    ];
    for (const [options, message] of wrong) {
      expect(() => call.add!.with(options as CallOptions)).toThrow(message);
    }
    const { call: streams } = createPool({ task: { isStream: true } });
    expect(() => streams.add!.with({ onEvent: () => {} })).toThrow("onEvent does not apply");
  });

  test("call, for onEvent, the variant of the task that sends events", async () => {
    const { call, submitted } = createPool();
    const onEvent = (): void => {};
    await call.multiply!.with({ onEvent })();
    expect(submitted).toMatchObject([{ task: 1 + EMITTING * NAMES.length, settings: { onEvent } }]);
  });

  test("wrap, for transfer, the first argument that can be wrapped", async () => {
    const signature = signatureOf([POINT], undefined);
    const { call, submitted } = createPool({ signatures: [signature] });
    const [one, other] = [new ArrayBuffer(1), new ArrayBuffer(2)];
    const moving = call.add!.with({ transfer: [one] }).with({ transfer: [other] });
    const promise = Promise.resolve(1);
    await moving(1, promise, "free");
    const [number, same, wrapped] = submitted[0]!.args;
    expect([number, same]).toEqual([1, promise]);
    expect(Transfer.listOf(wrapped as object)).toEqual([one, other]);
    expect((wrapped as Transfer).value).toBe("free");
    await expect(moving(1, promise)).rejects.toThrow("with({ transfer }) needs an argument");
    expect(submitted).toHaveLength(1);
  });
});

test("functions are known to map, with their pool and options", async () => {
  const { call, submitted, target } = createPool();
  const { owner, bind } = mappableOf(call.add!.with({ retries: 3 }))!;
  const { signal } = new AbortController();
  const { single, isKnown } = bind({ signal });
  await single(1);
  expect([owner === target.pool, isKnown]).toEqual([true, true]);
  expect(submitted[0]!.settings).toMatchObject({ retries: 3, signal });
});

describe("a module pool", () => {
  test("takes calls of any name before its tasks are known", async () => {
    const { become, call, state, submitted } = createModulePool();
    const { multiply, divide } = call;
    expect(call.multiply).toBe(multiply);
    await Promise.all([multiply!.with({ retries: 1 })(6), divide!(6)]);
    const [known, unknown] = submitted.map(({ task }) => task as Exclude<CalledTask, number>);
    expect([known!.name, unknown!.name]).toEqual(["multiply", "divide"]);
    become();
    expect(state.notices).toBe(1);
    expect(known!.find()).toMatchObject({ task: 1, settings: { retries: 1 } });
    expect(unknown!.find()).toBeInstanceOf(UnknownTaskError);
  });

  test("has its tasks as own properties once they are known, and keeps earlier functions", async () => {
    const { become, call, submitted } = createModulePool();
    const early = call.multiply!;
    const high = early.with({ priority: "high" });
    expect(Object.keys(call)).toEqual([]);
    become();
    expect(Object.keys(call)).toEqual(NAMES);
    expect(call.multiply).toBe(early);
    await Promise.all([early(1), high(2), call.add!(3)]);
    expect(submitted.map(({ task }) => task)).toEqual([1, 1, 0]);
    expect(submitted[1]!.settings).toMatchObject({ priority: 1 });
  });

  test("rejects calls of unknown names, read before or after", async () => {
    const { become, call, submitted } = createModulePool();
    const early = call.multipy!;
    become();
    for (const unknown of [early, call.multipl!, call.multipl!.with({ priority: "high" })]) {
      await expect(unknown(1)).rejects.toThrow('did you mean "multiply"?');
    }
    expect(submitted).toEqual([]);
  });
});
