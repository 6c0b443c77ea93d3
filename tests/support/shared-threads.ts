/**
 * Several threads that share data, simulated in one: each has a token, views of its own, virtual timers and a virtual clock.
 *
 * Each view is a proxy that knows its thread, and `Atomics` takes proxies here. So every store of a thread, atomic or plain, is
 * a step: a test can run another thread before it, or kill the thread there. A killed thread writes nothing more, not even in
 * its `finally` blocks.
 */
import { currentRuntime } from "../../src/runtimes/current.ts";
import type { Runtime, Timer } from "../../src/runtimes/runtime.ts";
import type { Memory } from "../../src/memory/views.ts";
import { type Kind, ObjectMemory } from "../../src/shared/memory.ts";
import { Root } from "../../src/shared/threads/root.ts";
import { ThisThread } from "../../src/shared/threads/this-thread.ts";

type Words = Int32Array<SharedArrayBuffer>;
type View = Memory[keyof Memory];

/** What an operation of a killed thread throws. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/** Waits in a row that nothing ends: the thread would block for ever. */
const MAX_WAITS = 2000;

const viewed = new WeakMap<object, { readonly target: View; readonly owner: SimulatedThread }>();
let asleep: { readonly owner: SimulatedThread; at: number; words: Words; wake(): void }[] = [];
let current: ThisThread | undefined;

export interface ThreadOptions {
  /** A main thread may not block. @default true */
  readonly isWorker?: boolean;
  /** Token of the thread that starts it. @default 0 */
  readonly parent?: number;
}

export class SimulatedThread {
  readonly token: number;
  readonly root: Root;
  readonly thread: ThisThread;
  /** Callbacks of timers that have not run. */
  readonly timers = new Set<() => void>();
  /** Called instead of blocking: other threads may run in it. */
  onWait: (() => void) | undefined;
  /** Called before each atomic load of a word: other threads may run in it. */
  onLoad: ((index: number) => void) | undefined;
  nowMs = 0;
  wallMs = 1e12;
  isStopped = false;
  waits = 0;
  /** Writes since `atStep` or `dieAt`. */
  steps = 0;
  #trap: { readonly step: number; readonly run: () => void } | undefined;

  constructor(buffer: SharedArrayBuffer, { isWorker = true, parent = 0 }: ThreadOptions) {
    this.token = new Root(new Int32Array(buffer)).begin(parent);
    this.root = new Root(new Int32Array(buffer));
    Object.defineProperty(this.root, "words", { value: watch(this.root.words, this) });
    this.thread = new ThisThread(this.root, this.token, isWorker, this.#createRuntime());
    Object.defineProperty(this.thread, "rest", { value: () => void (this.nowMs += 10) });
    Object.defineProperty(this.thread, "nowMs", { get: () => this.wallMs });
  }

  #createRuntime(): Runtime {
    const setTimer = (callback: () => void): Timer => {
      this.timers.add(callback);
      return { clear: () => void this.timers.delete(callback), ref: () => {}, unref: () => {} };
    };
    return {
      ...currentRuntime,
      losesAsyncWakes: false,
      now: () => this.nowMs++,
      coarseNow: () => this.wallMs,
      pause: () => {},
      setTimeout: setTimer,
      setInterval: () => ({ clear: () => {}, ref: () => {}, unref: () => {} }),
    };
  }

  /** Runs the timers that are set now. */
  runTimers(): void {
    const callbacks = [...this.timers]; // those that they set are for the next time
    for (const callback of callbacks) {
      this.timers.delete(callback);
      if (!this.isStopped) callback();
    }
  }

  /** The memory of an object as this thread sees it. */
  adopt(kind: Kind, buffer: SharedArrayBuffer): ObjectMemory {
    const memory = ObjectMemory.adopt(kind, buffer, this.thread);
    let view = watchAll(memory.view, this);
    Object.defineProperty(memory, "view", {
      get: () => view,
      set: (renewed: Memory) => {
        view = watchAll(renewed, this);
      },
    });
    Object.defineProperty(memory, "part", {
      value: (start: number, bytes: number) =>
        watchAll(ObjectMemory.prototype.part.call(memory, start, bytes), this),
    });
    Object.defineProperty(memory, "reach", {
      value: (end: number) => (ObjectMemory.prototype.reach.call(memory, end), view),
    });
    return memory;
  }

  /** `thisThread()` is this one while `body` runs. */
  run<Result>(body: () => Result): Result {
    const before = current;
    current = this.thread;
    try {
      return body();
    } finally {
      current = before;
    }
  }

  /** Has `run` called before the write with this number, counted from here: 1 is the next. */
  atStep(step: number, run: () => void): void {
    this.steps = 0;
    this.#trap = { step, run };
  }

  /** Runs `body`; the thread stops before the write with this number. False: it did. */
  diesAt(step: number, body: () => void): boolean {
    this.atStep(step, () => {
      this.isStopped = true;
      throw new Killed();
    });
    try {
      this.run(body);
    } catch (error) {
      if (!this.isStopped) throw error;
    }
    this.#trap = undefined;
    return !this.isStopped;
  }

  /** The thread stops here, and the others hear of it. */
  die(): void {
    this.isStopped = true;
    this.timers.clear();
    asleep = asleep.filter(({ owner }) => owner !== this);
    new Root(new Int32Array(this.root.words.buffer)).end(this.token);
  }

  /** Before each write. */
  step(): void {
    if (this.isStopped) throw new Killed();
    if (++this.steps !== this.#trap?.step) return;
    const { run } = this.#trap;
    this.#trap = undefined;
    run();
  }
}

/** The threads of a test; the first is the main thread. */
export class SimulatedThreads {
  readonly root: Root = Root.create();
  readonly main: SimulatedThread = this.start({ isWorker: false });

  start(options: ThreadOptions = {}): SimulatedThread {
    return new SimulatedThread(this.root.words.buffer, options);
  }

  workers(count: number): SimulatedThread[] {
    return Array.from({ length: count }, () => this.start({ parent: this.main.token }));
  }
}

/**
 * Runs a scenario again and again. `dies` kills a thread before its first write in `body`, the next time before its second, and
 * so on, until `body` returns; then the thread dies after it. It returns whether `body` did.
 */
export function forEachDeath(
  scenario: (dies: (thread: SimulatedThread, body: () => void) => boolean) => void,
  first = 1,
  stride = 1,
): number {
  for (let step = first, isDone = false; !isDone; step += stride) {
    try {
      scenario((thread, body) => {
        isDone = thread.diesAt(step, body);
        thread.die();
        return isDone;
      });
    } catch (error) {
      if (error instanceof Error) error.message = `killed before write ${step}: ${error.message}`;
      throw error;
    }
    if (isDone) return step;
  }
  return first;
}

function watchAll({ i32, f64, i64, u16, u8 }: Memory, owner: SimulatedThread): Memory {
  return {
    i32: watch(i32, owner),
    f64: watch(f64, owner),
    i64: watch(i64, owner),
    u16: watch(u16, owner),
    u8: watch(u8, owner),
  };
}

/** The view, whose writes are steps of `owner`. */
function watch<Watched extends View>(target: Watched, owner: SimulatedThread): Watched {
  const half = (values: readonly unknown[], start = 0, end = target.length) =>
    (target as Words).fill(values[0] as number, start, start + end >> 1);
  const proxy = new Proxy(target, {
    get(_, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      if (key !== "fill" && key !== "set") return value.bind(target);
      return (...values: unknown[]) => {
        owner.step();
        if (key === "fill") half(values, values[1] as number, values[2] as number);
        owner.step();
        return value.apply(target, values);
      };
    },
    set(_, key, value) {
      owner.step();
      return Reflect.set(target, key, value, target);
    },
  }) as Watched;
  viewed.set(proxy, { target, owner });
  return proxy;
}

type Operation = (words: Words, index: number, ...values: number[]) => unknown;

const addressOf = (words: Words, index: number): number => words.byteOffset + 4 * index;

function replace(name: keyof Atomics, operation: (original: Operation) => Operation): void {
  const original = Atomics[name] as Operation;
  Object.defineProperty(Atomics, name, { value: operation(original), configurable: true });
}

for (const name of ["store", "exchange", "compareExchange", "add", "sub", "and", "or"] as const) {
  replace(name, (original) => (words, index, ...values) => {
    const found = viewed.get(words);
    if (found === undefined) return original(words, index, ...values);
    found.owner.step();
    return original(found.target as Words, index, ...values);
  });
}
replace("load", (original) => (words, index) => {
  const found = viewed.get(words);
  if (found === undefined) return original(words, index);
  if (found.owner.isStopped) throw new Killed();
  found.owner.onLoad?.(index);
  return original(found.target as Words, index);
});
replace("notify", (original) => (words, index, ...values) => {
  const target = viewed.get(words)?.target as Words ?? words;
  const isWoken = (each: { readonly words: Words; readonly at: number }): boolean =>
    each.words.buffer === target.buffer && each.at === addressOf(target, index);
  const woken = asleep.filter(isWoken);
  asleep = asleep.filter((each) => !isWoken(each));
  for (const { wake } of woken) wake();
  return woken.length + (original(target, index, ...values) as number);
});
replace("wait", (original) => (words, index, seen, timeoutMs = Infinity) => {
  const found = viewed.get(words);
  if (found === undefined) return original(words, index, seen!, timeoutMs);
  const { owner } = found;
  if ((found.target as Words)[index] !== seen) return "not-equal";
  if (++owner.waits > MAX_WAITS || (timeoutMs === Infinity && owner.onWait === undefined)) {
    throw new Error("This simulated thread would block for ever.");
  }
  owner.onWait?.();
  owner.nowMs += Math.min(timeoutMs, 1000);
  return "ok";
});
replace("waitAsync", (original) => (words, index, seen) => {
  const found = viewed.get(words);
  if (found === undefined) return original(words, index, seen!);
  const { owner } = found;
  const target = found.target as Words;
  if (target[index] !== seen) return { async: false, value: "not-equal" };
  const value = new Promise<string>((resolve) => {
    const wake = (): void => owner.isStopped ? undefined : resolve("ok");
    asleep.push({ owner, at: addressOf(target, index), words: target, wake });
  });
  return { async: true, value };
});

/** `waitAsync` calls of a thread that are outstanding. */
export function asyncWaitsOf(thread: SimulatedThread): number {
  return asleep.filter(({ owner }) => owner === thread).length;
}

Object.defineProperty(globalThis, Symbol.for("heddle.shared.thread"), {
  get: () => current,
  configurable: true,
});

/** A turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => currentRuntime.macrotask(resolve));
}
