/** What the workers run: the functions of the program's module, which is loaded with the first call. */
import { createRequire, Module as NodeModule } from "node:module";
import { fileURLToPath } from "node:url";
import type { Callback } from "heddle/task";
import { type Failure, packError } from "./failures.ts";
import { lossyCopy } from "./lossy.ts";
import { installSender } from "./message-parent.ts";

/** What a worker is told when it starts. */
export interface WorkerStart {
  readonly file: string;
  readonly setupArgs: readonly unknown[];
  /** Its number from 1 on; undefined if its environment has it. */
  readonly id: string | undefined;
}

type Method = (...args: unknown[]) => unknown;
/** Takes a message of a call; `isText`: as JSON. */
export type Tell = Callback<(message: unknown, isText: boolean) => void>;

type Module = Readonly<Record<string, Method | undefined>> & { readonly __esModule?: boolean };

/** As they are before the program's code can replace them. */
const { setImmediate, setTimeout } = globalThis;

/** Milliseconds between two looks whether the module has left anything open. */
const LOOK_MS = 10;

let start!: WorkerStart;
let main: Module | undefined;
let isSetUp = false;
/** Resources of this worker before the module was loaded. */
let ownResources: readonly string[] = [];
/** Of the call that runs. */
let tell: Tell | undefined;
let isText = false;
/** The result of the last call, until the next one: the host asks for it again if it could not be sent. */
let lastResult: unknown;

/** Runs before the first task. */
export default function begin(given: WorkerStart): void {
  start = given;
  if (given.id !== undefined) process.env["JEST_WORKER_ID"] = given.id;
  installSender(send);
  process.on("unhandledRejection", (reason) => {
    if (process.listenerCount("unhandledRejection") > listeners) return; // the program handles it
    queueMicrotask(() => {
      throw reason;
    });
  });
  const listeners = process.listenerCount("unhandledRejection");
}

function send(message: unknown): void {
  const send = tell;
  if (send === undefined) return;
  const text = isText ? jsonOf(message) : undefined;
  const sent = text === undefined ? send(message, false) : send(text, true);
  sent.catch((error: { readonly code?: string }) => {
    // Otherwise the call is over, and nobody listens.
    if (error.code === "HEDDLE_DATA_CLONE") send(lossyCopy(message), false).catch(() => {});
  });
}

/** JSON of a list of the value, which may itself be undefined. Undefined: the value cannot be JSON. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify([value]);
  } catch {
    return undefined;
  }
}

/** `require.main` of what the worker loads is an object with a file name, as jest-worker's own script is there. On Node alone. */
function setMainModule(): void {
  const filename = fileURLToPath(import.meta.url);
  process.mainModule ??= Object.assign(new NodeModule(filename), { filename, loaded: true });
}

function load(): Module {
  if (main === undefined) {
    ownResources = process.getActiveResourcesInfo?.() ?? [];
    setMainModule();
    main = createRequire(start.file)(start.file) as Module;
  }
  return main;
}

/**
 * Calls back with what a function of the module returns or throws, or what its promise settles with. `await` would put frames of this
 * file into the stacks of the program's errors.
 */
function follow(
  f: () => unknown,
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
): void {
  let value: unknown;
  try {
    value = f();
  } catch (error) {
    return onError(error);
  }
  const { then } = Object(value) as { readonly then?: unknown };
  // Engines follow functions of promises to those who await them.
  if (isFunction(then)) {
    then.call(value, (result: unknown) => onValue(result), (error: unknown) => onError(error));
  } else onValue(value);
}

/** Loads the module and runs its `setup`, both once, and goes on. */
function withModule(use: (module: Module) => void, onError: (error: Failure) => void): void {
  let module: Module;
  try {
    module = load();
  } catch (error) {
    return onError(packError(error, "call"));
  }
  const { setup } = module;
  if (isSetUp || !isFunction(setup)) return use(module);
  isSetUp = true;
  follow(
    () => setup.apply(module, [...start.setupArgs]),
    () => use(module),
    (error) => onError(packError(error, "setup")),
  );
}

const call = (method: string, args: unknown[]): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(packError(error, "call"));
    withModule(
      (module) => follow(() => methodOf(module, method).apply(module, args), resolve, fail),
      reject,
    );
  });

function methodOf(module: Module, name: string): Method {
  const isDefault = name === "default" && isFunction(module) && !module.__esModule;
  const f: unknown = isDefault ? module : module[name];
  if (!isFunction(f)) throw new TypeError(`${start.file} has no method ${name}`);
  return f;
}

const isFunction = (value: unknown): value is Method => typeof value === "function";

/** Runs a method. */
export async function run(method: string, args: unknown[], onMessage: Tell): Promise<unknown> {
  tell = onMessage;
  isText = false;
  lastResult = undefined;
  return lastResult = await call(method, args);
}

/** Runs a method whose arguments are JSON. Returns JSON of a list of its result, or, if that cannot be JSON, a list of a copy of it. */
export async function runText(
  text: string,
  onMessage: Tell,
): Promise<string | readonly unknown[]> {
  tell = onMessage;
  isText = true;
  const [method, args] = JSON.parse(text) as [string, unknown[]];
  const result = await call(method, args);
  return jsonOf(result) ?? [lossyCopy(result)];
}

/** The last result, as far as it can be sent. */
export function lastResultAgain(): unknown {
  return lossyCopy(lastResult);
}

/** Loads the module and sets it up. */
export const prepare = (): Promise<void> =>
  new Promise((resolve, reject) => withModule(() => resolve(), reject));

export const heapBytes = (): number => process.memoryUsage().heapUsed;

/** Runs `teardown`, and returns when nothing of the module is left that keeps the worker running. */
export async function close(): Promise<void> {
  tell = undefined;
  if (main === undefined) return;
  try {
    await main["teardown"]?.apply(main, []);
  } catch {
    // A worker whose teardown fails ends as well.
  }
  // The first look comes after an immediate of heddle's own, which would be seen.
  await new Promise((resolve) => setImmediate(resolve));
  while (isAnythingOpen()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

/** Whether there are more resources of a kind than before the module was loaded. */
function isAnythingOpen(): boolean {
  const left = [...ownResources];
  return (process.getActiveResourcesInfo?.() ?? []).some((kind) => {
    const index = left.indexOf(kind);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}
