/**
 * `pool.call`: the tasks of a pool as functions, by name. Access to an unknown name throws UnknownTaskError; in a module
 * pool, whose tasks the host may not know yet, the call rejects with it.
 */
import { Error, Map, Promise, Proxy, Set } from "../../builtins.ts";
import {
  type CallOptions,
  changeOf,
  checkCallOptions,
  type GivenCall,
  mergeOptions,
  NO_OPTIONS,
} from "../options/call-options.ts";
import { didYouMean } from "../../option-checks.ts";
import { defineOwn } from "../../codec/support/own-property.ts";
import { InvalidArgumentError, UnknownTaskError } from "../../errors.ts";
import { atCaller, withStackAbove } from "../../realm/caller-stack.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import type { DeclaredValues } from "../../codec/declared.ts";
import {
  type CallSettings,
  createSettings,
  type GivenSettings,
  PLAIN,
} from "../../host/calls/call-settings.ts";
import type { Reject, Resolve } from "../../host/calls/in-flight.ts";
import type { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { CallSink } from "../options/resolved-options.ts";
import { type FindTask, UNKNOWN_TASK } from "../../host/calls/queued-call.ts";
import { EMITTING } from "../../protocol/task-variants.ts";
import { dropArguments } from "../../host/calls/feature.ts";
import { type CallParts, callParts } from "./call-parts.ts";
import { checked } from "./checked.ts";
import { type MakeCall, returns, type StreamParts } from "./feature.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

/** Returns a promise of the result, or a stream. */
type Call = (...args: unknown[]) => unknown;
type CallWith = Call & { with(options: CallOptions): CallWith };

export type CallProxy = Readonly<Record<string, CallWith>>;

const NO_EVENTS = "The task is a generator: it yields what others emit, so onEvent does not apply.";

/** Properties that promises, inspectors and test runners read from any object. */
const PROBED: ReadonlySet<string> = new Set([
  "then",
  "toJSON",
  "constructor",
  "inspect",
  "href",
  "protocol",
  "nodeType",
  "$$typeof",
  "asymmetricMatch",
]);

/** What the functions of one task are made of. */
interface TaskCalls extends Omit<CallParts, "given"> {
  /** A new function whose calls have these options. Throws InvalidArgumentError if they do not fit the task. */
  readonly make: (given: GivenCall) => Call;
}

/** The function with these options, which takes further ones. */
function callWith(calls: TaskCalls, given: GivenCall = NO_OPTIONS): CallWith {
  const call = Object.assign(calls.make(given), {
    with: atCaller((options: CallOptions) =>
      callWith(calls, mergeOptions(given, checkCallOptions(options)))
    ),
  });
  callParts.set(call, {
    ...calls,
    given,
    make: (more) => calls.make(mergeOptions(given, more)),
  });
  return call;
}

/** References of the functions of a pool. A function that is still referenced keeps its pool open. */
export interface CallTarget {
  readonly dispatcher: Dispatcher;
  readonly entry: CallSink;
  readonly features: StreamParts;
  readonly pool: object;
}

/** Creates a table without entries. `onUnknown` gives the value of every name that is not in it. */
export function createTable<T>(onUnknown: (name: string) => unknown): Readonly<Record<string, T>> {
  const get = (_target: object, key: string | symbol): unknown => {
    try {
      return typeof key === "symbol" || PROBED.has(key) ? undefined : onUnknown(key);
    } catch (error) {
      throw withStackAbove(error, get);
    }
  };
  return Object.create(new Proxy(Object.create(null) as object, { get })) as Readonly<
    Record<string, T>
  >;
}

export function unknownTask(name: string, known: readonly string[]): UnknownTaskError {
  const isLikeClass = /^[A-Z]/.test(name) && known.length > 0;
  const hint = isLikeClass ? " (classes are no tasks)" : "";
  return new UnknownTaskError(name, known, `${hint}${didYouMean(name, known)}`);
}

/** Creates `pool.call`. Its own properties are the tasks; reading any other name throws. */
export function createCallProxy(spec: PoolSpec, target: CallTarget): CallProxy {
  const names = spec.sources.map(({ name }) => name);
  const table = createTable<CallWith>((name) => {
    throw unknownTask(name, names);
  });
  for (const [task, name] of names.entries()) {
    const value = callWith(createCalls(spec, target, task));
    defineOwn(table, name, { value, enumerable: true });
  }
  return table;
}

/** The calls of a module pool. */
export interface ModuleCalls {
  readonly calls: CallProxy;
  /** The tasks are known: the calls are properties of the table from now on. */
  readonly onKnown: () => void;
}

export function createModuleCalls(spec: PoolSpec, target: CallTarget): ModuleCalls {
  const early = new Map<
    string,
    { readonly call: CallWith; readonly onKnown: (task: number) => void }
  >();
  let isKnown = false;
  const unknown = (name: string): UnknownTaskError =>
    unknownTask(name, spec.sources.map((source) => source.name));
  const calls = createTable<CallWith>((name) => {
    const made = early.get(name);
    if (made !== undefined) return made.call;
    if (isKnown) return callWith(refusing(spec, target, unknown(name)));
    const calls = createEarlyCalls(spec, target, name, unknown);
    const call = callWith(calls);
    early.set(name, { call, onKnown: calls.onKnown });
    return call;
  });
  const onKnown = (): void => {
    isKnown = true;
    for (const [task, { name }] of spec.sources.entries()) {
      const made = early.get(name);
      made?.onKnown(task);
      early.delete(name);
      const value = made?.call ?? callWith(createCalls(spec, target, task));
      defineOwn(calls, name, { value, enumerable: true });
    }
    for (const { onKnown } of early.values()) onKnown(UNKNOWN_TASK);
    target.dispatcher.onTasksKnown();
  };
  return { calls, onKnown };
}

/** The calls of a task, by its index. */
function createCalls(spec: PoolSpec, target: CallTarget, task: number): TaskCalls {
  const { tasks, options } = spec;
  const { settings: own, isStream, check } = tasks[task]!;
  const { entry } = target;
  const callAt = (given: GivenSettings): Call => {
    const settings = settingsFor(options, own, given, isStream);
    if (isStream) {
      if (settings.onEvent !== undefined) throw new InvalidArgumentError(NO_EVENTS);
      return (...args) =>
        callGenerator(
          target.features,
          (resolve, reject) => entry.submit(task, args, resolve, reject, settings),
        );
    }
    const index = settings.onEvent === undefined ? task : task + EMITTING * tasks.length;
    if (settings === PLAIN) return createPlainCall(spec, entry, task);
    return (...args) =>
      new Promise((resolve: Resolve, reject: Reject) => {
        entry.submit(index, args, resolve, reject, settings);
      });
  };
  return {
    owner: target.pool,
    spec,
    entry,
    find: () => task,
    make: (given) => {
      const { signatures, runtime: { isPromise } } = spec;
      return checked(changing(callAt(given), given, signatures[task]?.args, isPromise), check);
    },
  };
}

/** Calls a generator task. */
function callGenerator(parts: StreamParts, submit: MakeCall): unknown {
  if (returns.callGenerator !== undefined) return returns.callGenerator(parts, submit);
  throw new InvalidArgumentError(
    "The task is a generator, and this heddle has no feature streams.",
  );
}

/** The function of a task for calls without options. What they may be asked for is decided here, once. */
function createPlainCall(
  spec: PoolSpec,
  entry: CallSink,
  task: number,
): Call {
  if (isShort(spec, task)) {
    return (...args) =>
      new Promise((resolve: Resolve, reject: Reject) => {
        entry.submitPlain(task, args, resolve, reject);
      });
  }
  return (...args) =>
    new Promise((resolve: Resolve, reject: Reject) => {
      entry.submit(task, args, resolve, reject, PLAIN);
    });
}

/** Whether plain calls of a task go by `submitPlain`. */
function isShort(
  { options: { capture, createInliner, balancer }, signatures }: PoolSpec,
  task: number,
): boolean {
  return capture === undefined && createInliner === undefined && typeof balancer !== "function" &&
    signatures[task] === undefined;
}

/**
 * The calls of a name in a module pool whose tasks are not known yet. Each function calls the task of that name as soon as
 * it is known.
 */
function createEarlyCalls(
  spec: PoolSpec,
  target: CallTarget,
  name: string,
  unknown: (name: string) => UnknownTaskError,
): TaskCalls & { readonly onKnown: (task: number) => void } {
  const { tasks, options } = spec;
  const { entry, features } = target;
  let known: TaskCalls | undefined;
  let task = UNKNOWN_TASK;
  /** Whether calls without options are plain, once the task is known. */
  let isPlainTask = false;
  const isStream = (): boolean => tasks[task]?.isStream === true;
  return {
    owner: target.pool,
    spec,
    entry,
    find: () => known?.find(),
    make: (given) => {
      if (known !== undefined) return known.make(given);
      const settings = settingsFor(options, {}, given);
      const find: FindTask = () => task < 0 ? unknown(name) : findKnown(spec, task, given);
      const early: Call = (...args) => {
        const submit: MakeCall = (resolve, reject) =>
          entry.submit({ name, find }, args, resolve, reject, settings);
        return returns.callEarly?.(features, name, isStream, submit) ??
          new Promise((resolve: Resolve, reject: Reject) => {
            submit(resolve, reject);
          });
      };
      const first = given === NO_OPTIONS
        ? early
        : changing(early, given, undefined, spec.runtime.isPromise);
      let late: Call | undefined;
      return (...args) => {
        if (isPlainTask && given === NO_OPTIONS) {
          return new Promise((resolve: Resolve, reject: Reject) => {
            entry.submitPlain(task, args, resolve, reject);
          });
        }
        if (known === undefined) return first(...args);
        return (late ??= makeLate(target, known, given, isStream()))(...args);
      };
    },
    onKnown: (index) => {
      task = index;
      known = task < 0 ? refusing(spec, target, unknown(name)) : createCalls(spec, target, task);
      const own = tasks[task];
      isPlainTask = own !== undefined && !own.isStream && isShort(spec, task) &&
        settingsFor(options, own.settings, NO_OPTIONS) === PLAIN;
    },
  };
}

/** `calls.make` for a function that was made before its task was known: its options may turn out not to fit. */
function makeLate(
  { features }: CallTarget,
  calls: TaskCalls,
  given: GivenCall,
  isStream: boolean,
): Call {
  try {
    return calls.make(given);
  } catch (error) {
    if (!isStream) return refused(error);
    return (...args) =>
      callGenerator(features, () => {
        dropArguments(args);
        throw error;
      });
  }
}

/** The task at an index, for calls with `given` options. */
export function findKnown(
  { tasks, options }: PoolSpec,
  task: number,
  given: GivenCall,
): ReturnType<FindTask> {
  const isEmitting = given.onEvent !== undefined;
  if (isEmitting && tasks[task]!.isStream) return new InvalidArgumentError(NO_EVENTS);
  try {
    return {
      task: isEmitting ? task + EMITTING * tasks.length : task,
      settings: settingsFor(options, tasks[task]!.settings, given, tasks[task]!.isStream),
    };
  } catch (error) {
    return error as InvalidArgumentError;
  }
}

/** `call` with arguments as its options change them. */
function changing(
  call: Call,
  given: GivenCall,
  declared: DeclaredValues | undefined,
  isPromise: Runtime["isPromise"],
): Call {
  const change = given === NO_OPTIONS ? undefined : changeOf(given);
  if (change === undefined) return call;
  return (...args) => {
    const changed = change(args, given, declared, isPromise);
    return changed instanceof Error ? Promise.reject(changed) : call(...changed);
  };
}

/** Calls that reject with `error`. */
function refusing(spec: PoolSpec, { entry, pool }: CallTarget, error: Error): TaskCalls {
  return { owner: pool, spec, entry, find: () => error, make: () => refused(error) };
}

/** A function whose calls reject with `error`. */
function refused(error: unknown): Call {
  return (...args) => {
    dropArguments(args);
    return Promise.reject(error);
  };
}

/** The settings of calls with `given` options, of a task with its `own`. Throws InvalidArgumentError. */
export function settingsFor(
  options: PoolSpec["options"],
  own: GivenSettings,
  given: GivenCall,
  isStream = false,
): CallSettings {
  return createSettings({
    ...options.settings,
    ...mergeOptions(own, given),
    ...options.fixedSettings,
    // A value in place of the items that are missing would look like the end of the stream.
    ...(isStream && { timeoutValue: undefined, isStream }),
  });
}
