/**
 * `pool.call`: the tasks of a pool as functions, by name. A name that no task has is a function whose calls reject with
 * UnknownTaskError: the host may not know the tasks of a module yet.
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
import { isStackOverflow } from "../../codec/support/stack-overflow.ts";
import { InvalidArgumentError, UnknownTaskError } from "../../errors.ts";
import {
  atCaller,
  type Place,
  placeAbove,
  withPlace,
  withStackAbove,
} from "../../realm/caller-stack.ts";
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
import { callParts } from "./call-parts.ts";
import { checkedArguments } from "./checked.ts";
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

/** References of the functions of a pool. A function that is still referenced keeps its pool open. */
export interface CallTarget {
  readonly dispatcher: Dispatcher;
  readonly entry: CallSink;
  readonly features: StreamParts;
  readonly pool: object;
}

/**
 * Creates a table without entries. `onUnknown` gives the value of every name that is not in it; `where` tells where that is
 * being read.
 */
export function createTable<T>(
  onUnknown: (name: string, where: () => Place) => unknown,
): Readonly<Record<string, T>> {
  const get = (_target: object, key: string | symbol): unknown => {
    try {
      if (typeof key === "symbol" || PROBED.has(key)) return undefined;
      return onUnknown(key, () => placeAbove(get));
    } catch (error) {
      throw withStackAbove(error, get);
    }
  };
  return Object.create(new Proxy(Object.create(null) as object, { get })) as Readonly<
    Record<string, T>
  >;
}

/** `place`: where the name was read. */
export function unknownTask(
  name: string,
  { sources }: Pick<PoolSpec, "sources">,
  place?: Place,
): UnknownTaskError {
  const known = sources.map((source) => source.name);
  const isLikeClass = /^[A-Z]/.test(name) && known.length > 0;
  const hint = isLikeClass ? " (classes are no tasks)" : "";
  const error = new UnknownTaskError(name, known, `${hint}${didYouMean(name, known)}`);
  return place === undefined ? error : withPlace(error, place);
}

/** Creates `pool.call`. Its own properties are the tasks. */
export function createCallProxy(spec: PoolSpec, target: CallTarget): CallProxy {
  const { calls, learn } = createCalls(spec, target);
  learn();
  return calls;
}

/** The calls of a module pool. */
export interface ModuleCalls {
  readonly calls: CallProxy;
  /** The tasks are known: the calls are properties of the table from now on. */
  readonly onKnown: () => void;
}

export function createModuleCalls(spec: PoolSpec, target: CallTarget): ModuleCalls {
  const { calls, learn } = createCalls(spec, target);
  const onKnown = (): void => {
    learn();
    target.dispatcher.onTasksKnown();
  };
  return { calls, onKnown };
}

/** A table of calls, and what makes the tasks known to it. */
function createCalls(spec: PoolSpec, target: CallTarget): { calls: CallProxy; learn: () => void } {
  const early = new Map<string, TaskCalls>();
  let isKnown = false;
  const calls = createTable<CallWith>((name, where) => {
    let made = early.get(name);
    if (made !== undefined) return made.call;
    made = new TaskCalls(spec, target, name);
    made.place = where();
    if (isKnown) made.refuse();
    else early.set(name, made);
    return made.call;
  });
  const learn = (): void => {
    isKnown = true;
    defineCalls(calls, spec, target, early);
    for (const made of early.values()) made.refuse();
    early.clear();
  };
  return { calls, learn };
}

/** Adds the known tasks to a table. `early`: what was made before. */
function defineCalls(
  table: CallProxy,
  spec: PoolSpec,
  target: CallTarget,
  early: Map<string, TaskCalls>,
): void {
  for (const [task, { name }] of spec.sources.entries()) {
    const made = early.get(name) ?? new TaskCalls(spec, target, name);
    early.delete(name);
    made.learn(task);
    defineOwn(table, name, { value: made.call, enumerable: true });
  }
}

/** The functions of one name. Those that were made before the task is known call it as soon as it is. */
class TaskCalls {
  /** Its index; undefined: not known yet; an error: there is none. */
  task: number | UnknownTaskError | undefined;
  /** The same if calls without options go by `submitPlain`. */
  #plain = UNKNOWN_TASK;
  readonly name: string;
  /** Where the name was read first, if the task was not known there. */
  place: Place | undefined;
  readonly #spec: PoolSpec;
  readonly #target: CallTarget;
  /** The function without options. */
  readonly call: CallWith;

  constructor(spec: PoolSpec, target: CallTarget, name: string) {
    this.#spec = spec;
    this.#target = target;
    this.name = name;
    this.call = this.#callWith(NO_OPTIONS);
  }

  /** There is no such task: the calls reject. */
  refuse(): void {
    this.task = unknownTask(this.name, this.#spec, this.place);
    this.place = undefined; // it references what is on its stack
  }

  learn(task: number): void {
    this.task = task;
    this.place = undefined;
    const { tasks, signatures, options } = this.#spec;
    const { settings, isStream, check } = tasks[task]!;
    const isShort = options.capture === undefined && options.createInliner === undefined &&
      typeof options.balancer !== "function" && signatures[task] === undefined;
    if (!isShort || isStream || check !== undefined) return;
    if (settingsFor(options, settings, NO_OPTIONS) === PLAIN) this.#plain = task;
  }

  /** The function with these options, which takes further ones. */
  #callWith(given: GivenCall): CallWith {
    const call = Object.assign(this.#make(given), {
      with: atCaller((options: CallOptions) => {
        this.#spec.uses?.needForOptions(Object(options) as object, "with()");
        return this.#callWith(mergeOptions(given, checkCallOptions(options)));
      }),
    });
    callParts.set(call, {
      name: this.name,
      owner: this.#target.pool,
      spec: this.#spec,
      entry: this.#target.entry,
      given,
      find: () => this.task,
      make: (more) => this.#make(mergeOptions(given, more)),
    });
    return call;
  }

  /** A new function whose calls have these options. Throws InvalidArgumentError if they do not fit the task, as far as it is known. */
  #make(given: GivenCall): Call {
    const { entry } = this.#target;
    let known = given === NO_OPTIONS || this.task === undefined ? undefined : this.#known(given);
    return (...args) => {
      const task = this.#plain;
      if (task >= 0 && given === NO_OPTIONS) {
        return new Promise((resolve: Resolve, reject: Reject) => {
          entry.submitPlain(task, args, resolve, reject);
        });
      }
      if (known !== undefined) return known(args);
      if (this.task === undefined) return this.#callEarly(given, args);
      known = this.#knownLate(given);
      return known(args);
    };
  }

  /** Makes a call of the task before it is known. */
  #callEarly(given: GivenCall, args: unknown[]): unknown {
    const { name } = this;
    const spec = this.#spec;
    const { entry, features } = this.#target;
    const changed = given === NO_OPTIONS ? args : changeArguments(spec, undefined, given, args);
    if (changed instanceof Error) return Promise.reject(changed);
    const settings = settingsFor(spec.options, {}, given);
    const find: FindTask = () =>
      typeof this.task === "number" ? findKnown(spec, this.task, given) : this.task!;
    const submit: MakeCall = (resolve, reject) =>
      entry.submit({ name, find }, changed, resolve, reject, settings);
    const isStream = (): boolean => spec.tasks[this.task as number]?.isStream === true;
    return returns.callEarly?.(features, name, isStream, submit) ??
      new Promise((resolve: Resolve, reject: Reject) => {
        submit(resolve, reject);
      });
  }

  /** What a function does with the arguments of its calls. */
  #known(given: GivenCall): (args: unknown[]) => unknown {
    const { task } = this;
    if (typeof task !== "number") return refusal(task);
    const spec = this.#spec;
    const { entry, features } = this.#target;
    const { isStream, check } = spec.tasks[task]!;
    const found = findKnown(spec, task, given);
    if (found instanceof Error) throw found;
    const isChanging = changeOf(given) !== undefined;
    return (args) => {
      const checked = check === undefined ? args : checkedArguments(check, args);
      const changed = isChanging ? changeArguments(spec, task, given, checked) : checked;
      if (changed instanceof Error) return Promise.reject(changed);
      const submit: MakeCall = (resolve, reject) =>
        entry.submit(found.task, changed, resolve, reject, found.settings);
      if (!isStream) {
        return new Promise((resolve: Resolve, reject: Reject) => {
          submit(resolve, reject);
        });
      }
      needStreams(spec, task);
      return callGenerator(features, submit);
    };
  }

  /** The same for a function that was made before its task was known: its options may turn out not to fit. */
  #knownLate(given: GivenCall): (args: unknown[]) => unknown {
    try {
      return this.#known(given);
    } catch (error) {
      if (isStackOverflow(error)) throw error; // this call's alone
      if (!this.#spec.tasks[this.task as number]!.isStream) return refusal(error);
      return (args) => {
        needStreams(this.#spec, this.task as number);
        return callGenerator(this.#target.features, () => {
          dropArguments(args);
          throw error;
        });
      };
    }
  }
}

function needStreams({ uses, sources }: PoolSpec, task: number): void {
  uses?.need("streams", `the generator task ${sources[task]!.name}`);
}

/** Calls a generator task. */
function callGenerator(parts: StreamParts, submit: MakeCall): unknown {
  if (returns.callGenerator !== undefined) return returns.callGenerator(parts, submit);
  throw new InvalidArgumentError(
    "The task is a generator, and this heddle has no feature streams.",
  );
}

/** Calls that reject with `error`. */
function refusal(error: unknown): (args: unknown[]) => Promise<never> {
  return (args) => {
    dropArguments(args);
    return Promise.reject(error);
  };
}

/** Arguments as the options of their call change them. */
function changeArguments(
  { signatures, runtime }: PoolSpec,
  task: number | undefined,
  given: GivenCall,
  args: readonly unknown[],
): readonly unknown[] | Error {
  const declared = task === undefined ? undefined : signatures[task]?.args;
  return changeOf(given)?.(args, given, declared, runtime.isPromise) ?? args;
}

/** The task at an index, for calls with `given` options. */
export function findKnown(
  spec: PoolSpec,
  task: number,
  given: GivenCall,
): ReturnType<FindTask> {
  const { tasks, options } = spec;
  const { isStream, runsByName = false, settings: own } = tasks[task]!;
  if (given.onEvent !== undefined && isStream) return new InvalidArgumentError(NO_EVENTS);
  try {
    if (isStream) needStreams(spec, task);
    const settings = settingsFor(options, own, given, isStream);
    const variant = given.onEvent === undefined ? 0 : EMITTING;
    return { task: task + variant * tasks.length, settings, runsByName };
  } catch (error) {
    return error as InvalidArgumentError;
  }
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
    ...(given === NO_OPTIONS ? own : mergeOptions(own, given)),
    ...options.fixedSettings,
    // A value in place of the items that are missing would look like the end of the stream.
    ...(isStream && { timeoutValue: undefined, isStream }),
  });
}
