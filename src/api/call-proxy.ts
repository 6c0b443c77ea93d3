/**
 * `pool.call`: the tasks of a pool as functions, by name. Access to an unknown name throws UnknownTaskError; in a module
 * pool, whose tasks the host may not know yet, the call rejects with it.
 */
import { Map, Promise, Proxy, Set } from "../builtins.ts";
import { type CallOptions, checkCallOptions, transferListOf } from "./call-options.ts";
import { didYouMean } from "./checks.ts";
import { defineOwn } from "../codec/support/own-property.ts";
import { abortError } from "../lane/abort-reason.ts";
import { InvalidArgumentError, UnknownTaskError } from "../errors.ts";
import { atCaller, withStackAbove } from "../realm/caller-stack.ts";
import { transfer } from "../codec/kinds/wrappers.ts";
import type { DeclaredValues } from "../codec/struct/signature.ts";
import {
  type CallSettings,
  createSettings,
  type GivenSettings,
  isPlain,
  PLAIN,
} from "../host/cancel/call-settings.ts";
import type { Cancellation } from "../host/cancel/cancellation.ts";
import type { PendingCall, Reject, Resolve } from "../host/in-flight.ts";
import type { Dispatcher } from "../host/dispatch/dispatcher.ts";
import type { CallSink } from "./mapped-errors.ts";
import type { FindTask } from "../host/dispatch/pending-calls.ts";
import type { StreamCalls } from "../host/streams/stream-calls.ts";
import { CHUNK, type ChunkResult, EMITTING } from "../lane/task-variants.ts";
import { endStreams } from "../streams/open-source.ts";
import { isStreamable } from "../streams/stream-producer.ts";
import { anySignal, type BoundCall, mappable, refusedMap } from "./mappable.ts";
import type { PoolSpec } from "./pool-spec.ts";
import { promiseOrStream, streamed, type Submit } from "./stream-calls.ts";

/** Returns a promise of the result, or a stream. */
type Call = (...args: unknown[]) => unknown;
type CallWith = Call & { with(options: CallOptions): Call };

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
  readonly cancellation: Cancellation;
  readonly streams: StreamCalls;
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
  return new UnknownTaskError(name, known, didYouMean(name, known));
}

/** Creates `pool.call`. Its own properties are the tasks; reading any other name throws. */
export function createCallProxy(spec: PoolSpec, target: CallTarget): CallProxy {
  const names = spec.sources.map(({ name }) => name);
  const table = createTable<CallWith>((name) => {
    throw unknownTask(name, names);
  });
  for (const [task, name] of names.entries()) {
    const value = createCall(spec, target, task);
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
  const early = new Map<string, CallWith & { readonly onKnown: () => void }>();
  let isKnown = false;
  const unknown = (name: string): UnknownTaskError =>
    unknownTask(name, spec.sources.map((source) => source.name));
  const calls = createTable<CallWith>((name) => {
    let call = early.get(name);
    if (call === undefined && isKnown) return refuse(unknown(name));
    if (call === undefined) early.set(name, call = createEarlyCall(spec, target, name, unknown));
    return call;
  });
  const onKnown = (): void => {
    isKnown = true;
    for (const call of early.values()) call.onKnown();
    for (const [task, { name }] of spec.sources.entries()) {
      const value = early.get(name) ?? createCall(spec, target, task);
      defineOwn(calls, name, { value, enumerable: true });
    }
    target.dispatcher.onTasksKnown();
  };
  return { calls, onKnown };
}

/** The function of a task, by its index. */
function createCall(spec: PoolSpec, target: CallTarget, task: number): CallWith {
  const { tasks, options } = spec;
  const { settings: own, isStream } = tasks[task]!;
  const { entry } = target;
  const callAt = (given: GivenSettings): Call => {
    const settings = settingsFor(options, own, given);
    if (isStream) {
      if (settings.onEvent !== undefined) throw new InvalidArgumentError(NO_EVENTS);
      return (...args) =>
        streamed(
          target.streams,
          (resolve, reject) => entry.submit(task, args, resolve, reject, settings),
        );
    }
    const index = settings.onEvent === undefined ? task : task + EMITTING * tasks.length;
    if (settings.hasSignal) {
      return (...args) =>
        abortable(
          target,
          (resolve, reject) => entry.submit(index, args, resolve, reject, settings),
        );
    }
    if (isPlain(settings)) return createPlainCall(spec, entry, task);
    return (...args) =>
      new Promise((resolve: Resolve, reject: Reject) => {
        entry.submit(index, args, resolve, reject, settings);
      });
  };
  const at = (given: GivenSettings): Call => {
    const call = callAt(given);
    mappable.set(call, {
      pool: target.pool,
      bind: (signal) => {
        if (isStream) return refusedMap;
        const all = { ...given, signal: anySignal(given.signal, signal) };
        const isDeclared = spec.signatures[task] !== undefined || given.onEvent !== undefined;
        const single = callAt(all) as BoundCall["single"];
        if (isDeclared) return { single, chunk: undefined };
        const settings = settingsFor(options, own, all);
        return {
          single,
          chunk: (items, isReduction) =>
            new Promise((resolve: Resolve, reject: Reject) => {
              const args = [items, isReduction];
              entry.submit(task + CHUNK * tasks.length, args, resolve, reject, settings);
            }) as Promise<ChunkResult>,
        };
      },
    });
    return call;
  };
  return Object.assign(at({}), {
    with: atCaller((given: CallOptions) => {
      const list = transferListOf(given);
      const call = at(checkCallOptions(given));
      return list === undefined ? call : moving(call, list, spec.signatures[task]?.args);
    }),
  });
}

/** The function of a task for calls without options. What they may be asked for is decided here, once. */
function createPlainCall(
  { options: { context, inliner, balancer }, signatures }: PoolSpec,
  entry: CallSink,
  task: number,
): Call {
  const isShort = context === undefined && inliner === undefined && typeof balancer === "string" &&
    signatures[task] === undefined;
  if (isShort) {
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

/**
 * The function of a name in a module pool whose tasks are not known yet. Later it calls the task of that name.
 */
function createEarlyCall(
  spec: PoolSpec,
  target: CallTarget,
  name: string,
  unknown: (name: string) => UnknownTaskError,
): CallWith & { readonly onKnown: () => void } {
  const { sources, tasks, options } = spec;
  let known: CallWith | undefined;
  const indexOf = (): number => sources.findIndex((source) => source.name === name);
  const at = (given: GivenSettings): Call => {
    // A signal, so that a call made now has `reject()` in case its task turns out to take a signal.
    const settings = settingsFor(options, { hasSignal: true }, given);
    const find: FindTask = () => {
      const task = indexOf();
      return task < 0 ? unknown(name) : knownTask(spec, task, given);
    };
    return (...args) =>
      promiseOrStream(
        target.streams,
        name,
        () => tasks[indexOf()]?.isStream === true,
        (submit) => abortable(target, submit),
        (resolve, reject) => target.entry.submitEarly(name, find, args, resolve, reject, settings),
      );
  };
  const early = at({});
  const withOptions = (options: CallOptions): Call => {
    const given = checkCallOptions(options);
    if (known !== undefined) return known.with(options);
    const list = transferListOf(options);
    const first = list === undefined ? at(given) : moving(at(given), list, undefined);
    let later: Call | undefined;
    return (...args) => {
      if (known === undefined) return first(...args);
      return (later ??= known.with(options))(...args);
    };
  };
  const call: Call = (...args) => known === undefined ? early(...args) : known(...args);
  mappable.set(call, {
    pool: target.pool,
    bind: (signal) => {
      if (known !== undefined) {
        return mappable.get(known)?.bind(signal) ??
          { single: known as BoundCall["single"], chunk: undefined };
      }
      return { single: at({ signal }) as BoundCall["single"], chunk: undefined };
    },
  });
  return Object.assign(call, {
    with: atCaller(withOptions),
    onKnown: () => {
      const task = indexOf();
      known = task < 0 ? refuse(unknown(name)) : createCall(spec, target, task);
    },
  });
}

/** A task that has become known, for calls with `given` options. */
function knownTask(
  { tasks, options }: PoolSpec,
  task: number,
  given: GivenSettings,
): ReturnType<FindTask> {
  const isEmitting = given.onEvent !== undefined;
  if (isEmitting && tasks[task]!.isStream) return new InvalidArgumentError(NO_EVENTS);
  return {
    task: isEmitting ? task + EMITTING * tasks.length : task,
    settings: settingsFor(options, tasks[task]!.settings, given),
  };
}

/** `call` with arguments of which the objects in `list` move. */
function moving(
  call: Call,
  list: readonly unknown[],
  declared: DeclaredValues | undefined,
): Call {
  return (...args) => {
    // One wrapper moves objects of all arguments. It cannot be around a declared value, a promise or a stream that is sent
    // item by item.
    const free = args.findIndex((arg, index) =>
      declared?.[index] === undefined && !(arg instanceof Promise) &&
      (!isStreamable(arg) || list.includes(arg))
    );
    if (free < 0) {
      endStreams(args);
      return Promise.reject(
        new InvalidArgumentError(
          "with({ transfer }) needs an argument that is neither a promise, a stream nor a declared struct; " +
            "wrap the value of a promise in transfer().",
        ),
      );
    }
    return call(...args.with(free, transfer(args[free], list)));
  };
}

/** A function whose calls reject with `error`. */
function refuse(error: Error): CallWith {
  const call: Call = (...args) => {
    endStreams(args);
    return Promise.reject(error);
  };
  return Object.assign(call, { with: () => call });
}

/** The settings of calls with `given` options, of a task with its `own`. */
export function settingsFor(
  { hardTimeoutMs, balancer }: PoolSpec["options"],
  own: GivenSettings,
  given: GivenSettings,
): CallSettings {
  const settings = { ...own, hardTimeoutMs, ...given };
  // strictFifo ignores priorities.
  return createSettings(balancer === "strictFifo" ? { ...settings, priority: 0 } : settings);
}

/** A call with a method `reject` of its promise, which aborts it. */
function abortable({ cancellation }: CallTarget, submit: Submit): Promise<unknown> {
  let call: PendingCall | undefined;
  let own: Reject | undefined;
  const promise = new Promise((resolve: Resolve, reject: Reject) => {
    call = submit(resolve, reject);
    own = call?.reject;
  });
  const abort = (reason: unknown = abortError()): void => {
    // The slot may belong to another call by now.
    if (call !== undefined && call.reject === own) cancellation.abort(call, reason);
  };
  return Object.assign(promise, { reject: abort });
}
