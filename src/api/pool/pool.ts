/**
 * `createPool`: locates the tasks, creates a pool (`pool-core.ts`) and returns its public handle with the typed calls
 * (`call-proxy.ts`).
 */
import { Error, EventTarget, Promise, URL as BuiltinURL } from "../../builtins.ts";
import { type CallProxy, createCallProxy, createModuleCalls } from "../calls/call-proxy.ts";
import { defineOwn } from "../../codec/support/own-property.ts";
import { isRecord, show } from "../../option-checks.ts";
import type { TaskSource } from "../../protocol/start-data.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkShutdown, resolveOptions } from "../options/options.ts";
import type { CallSink, Resolving } from "../options/resolved-options.ts";
import type { PoolOptions, ShutdownOptions } from "../options/pool-options.ts";
import { ModuleTasks } from "../tasks/module-tasks.ts";
import { isRelative, moduleUrlOf } from "../options/module-url.ts";
import { AwakeCount } from "../../sync/awake-count.ts";
import { type HostFeature, useInHost } from "./feature.ts";
import { members, type PoolAccess } from "./members.ts";
import { nestedPool } from "./nested-pool.ts";
import { EVENT_TARGET_PRINTED, PRINTED } from "../../runtimes/printed.ts";
import { PoolCore } from "./pool-core.ts";
import type { Pool } from "./pool-types.ts";
import { markCall, placeOf } from "../../realm/call-site.ts";
import { captureStackTrace, withStackAbove } from "../../realm/caller-stack.ts";
import { SERVED_URL } from "../../realm/served-modules.ts";
import { workerRealm } from "../../realm/worker-realm.ts";
import { isGeneratorFunction } from "../../protocol/generator-functions.ts";
import { workerEntry } from "../../worker-entry.ts";
import { hostRuntime } from "../../runtimes/host.ts";
import { runningModule } from "../../runtimes/bun/bundles.ts";
import { moduleFinder } from "../../runtimes/packages/module-finder.ts";
import type { WorkerEntry } from "../../runtimes/runtime.ts";
import { checkOf, declaredBy, functionOf, locateTask, settingsOfTask } from "../tasks/task-map.ts";
import type {
  AnyFunction,
  DeclaredSignature,
  TaskDeclaration,
  TaskMap,
} from "../tasks/task-types.ts";
import type { PoolSpec, Uses } from "../tasks/pool-spec.ts";
import type { Serve } from "../../worker/site.ts";
import { placeAt } from "./start-origin.ts";

const DEFAULT_SHUTDOWN = { timeoutMs: undefined, isQueuedRun: true };

/** Creates a pool of the tasks of a module, or of a set of tasks. */
export interface CreatePool {
  /**
   * Every function that the module exports is a task: `createPool()<typeof import("./tasks.ts")>(url)`. Only workers
   * load the module. A path or the name of a package is resolved as the module that calls `createPool` imports it.
   */
  <Module extends object = Readonly<Record<string, AnyFunction>>>(
    module: URL | string,
  ): Pool<Module>;
  /** Tasks by name: functions that the calling module exports, `task()`s and `importTask()`s. */
  <Tasks extends TaskMap>(tasks: Tasks): Pool<Tasks>;
}

/** What the pools of an entry point are made of. */
export interface PoolKind {
  readonly features: readonly HostFeature[];
  /** Undefined: its pools have all features. */
  readonly uses?: Uses;
  readonly isMain: boolean;
  /** The file of workers, without its ending. */
  readonly worker: string;
  /** Imports the code of workers on the host, where no thread can start. Keeps nothing: its pools keep it. */
  readonly loadWorkerCode: () => Promise<{ readonly serve: Serve }>;
}

/** The features that this thread has attached last. */
let attached: readonly HostFeature[] | undefined;

/**
 * What `createPool` does: `createPool` is that function, at which stacks of errors begin, and `count` the number of its arguments. Its
 * pools have these features, which are attached to this thread at its first call.
 */
export function createPoolWith(
  kind: PoolKind,
  createPool: (options?: PoolOptions) => CreatePool,
  options: PoolOptions | undefined,
  count: number,
): CreatePool {
  if (count > 1) {
    throw new InvalidArgumentError(
      "createPool() takes only options; its result takes the tasks: createPool(options)(tasks).",
    );
  }
  const { features } = kind;
  if (attached !== features) {
    useInHost(features);
    ThreadPool.addMembers();
    attached = features;
  }
  const prepared = prepare(kind, options, createPool);
  const create = (given: TaskMap | URL | string): unknown => {
    try {
      const origin = new Error();
      captureStackTrace(origin, create);
      const pool = createFrom(given, prepared, origin);
      return pool;
    } catch (error) {
      throw withStackAbove(error, create);
    }
  };
  return create as CreatePool;
}

/** What the pools of one `createPool(options)` have in common. */
interface Prepared {
  readonly common: Pick<
    PoolSpec,
    "options" | "runtime" | "active" | "workerEntry" | "loadWorkerCode" | "uses"
  >;
  /** Returns the module that called `createPool`. Not asked for a module whose URL is given. */
  readonly caller: () => string | undefined;
  readonly locate: (file: string | undefined) => string | undefined;
}

/** `createPool`: the function that was called with `options`. */
function prepare(
  { isMain, worker, loadWorkerCode, uses }: PoolKind,
  options: PoolOptions = {},
  createPool: (options?: PoolOptions) => CreatePool,
): Prepared {
  const realm = workerRealm();
  if (realm?.isLoading ?? !isMain) {
    const isBundled = hostRuntime.bundleMark() !== undefined;
    throw nestedPool(realm, isBundled);
  }
  const runtime = hostRuntime;
  const resolved = resolveOptions(options, runtime) as Resolving;
  const entry = workerEntry(runtime, worker);
  const { moduleUrl } = resolved;
  const mark = moduleUrl === undefined ? markCall(createPool) : undefined;
  const locate = (file: string | undefined) => moduleOnStack(file, entry);
  const caller = () => locate(mark === undefined ? moduleUrl : placeOf(mark)?.module);
  const modules = Object.create(null) as Record<string, string>;
  for (const [name, url] of Object.entries(resolved.modules)) {
    modules[name] = moduleUrlOf(url, caller(), moduleFinder(runtime));
  }
  resolved.modules = modules;
  const active = realm?.active ?? [AwakeCount.ofThread()];
  return {
    common: { options: resolved, runtime, active, workerEntry: entry, loadWorkerCode, uses },
    caller,
    locate,
  };
}

function createFrom(
  given: TaskMap | URL | string | (() => unknown),
  { common, caller, locate }: Prepared,
  origin: Error,
): ThreadPool {
  const { runtime } = common;
  const create = runtime.startsGivenWorkers && typeof given === "function" ? given : undefined;
  if (typeof given === "string" || given instanceof BuiltinURL || create !== undefined) {
    const url = create !== undefined
      ? SERVED_URL
      : given instanceof BuiltinURL
      ? given.href
      : moduleUrlOf(
        String(given),
        isRelative(String(given)) ? caller() : undefined,
        moduleFinder(hostRuntime),
      );
    const tasks = new ModuleTasks(url, runtime, common.uses);
    const { sources, signatures, moduleUrl } = tasks;
    const spec = {
      ...common,
      workerEntry: { ...common.workerEntry, create },
      sources,
      tasks: tasks.tasks,
      signatures,
      known: [],
      taskModule: moduleUrl,
    };
    return new ThreadPool(spec, origin, tasks);
  }
  const entries = Object.values(Object(given) as TaskMap);
  const declared = entries.map(declaredBy);
  const sources = locateTasks(given as TaskMap, declared, caller(), locate);
  const own = declared.map((each) => each?.signature);
  // Also of the variants: chunks have no declared types, tasks that send events have their own.
  const signatures = [...own, ...Array<undefined>(own.length), ...own];
  const tasks = sources.map(({ name }, index) => {
    const entry = entries[index];
    const f = functionOf(name, entry);
    const check = checkOf(name, entry);
    return { settings: settingsOfTask(entry), isStream: isGeneratorFunction(f), f, check };
  });
  checkUses(common.uses, given as TaskMap);
  const known = entries.map((entry, index) => tasks[index]!.f && entry);
  const spec = { ...common, sources, tasks, known, signatures, taskModule: undefined };
  return new ThreadPool(spec, origin);
}

/** Throws if a task needs a feature that the pool does not use. */
function checkUses(uses: Uses | undefined, tasks: TaskMap): void {
  if (uses === undefined) return;
  for (const [name, entry] of Object.entries(tasks)) {
    if (declaredBy(entry) !== undefined) uses.need("structs", `the shape of the task ${name}`);
    const { options, abortSignal } = entry as TaskDeclaration;
    uses.needForOptions({ ...options, ...(abortSignal === true && { abortSignal }) }, name);
  }
}

/** The module that runs. In an executable of Bun with source maps, the stack shows a relative path of a source. */
function moduleOnStack(
  file: string | undefined,
  entry: WorkerEntry,
): string | undefined {
  if (file === undefined) return undefined;
  return entry.mark !== undefined && isRelative(file) ? entry.url.href : runningModule(file);
}

function locateTasks(
  tasks: TaskMap,
  declared: readonly (DeclaredSignature | undefined)[],
  caller: string | undefined,
  locate: (file: string | undefined) => string | undefined,
): readonly TaskSource[] {
  if (!isRecord(tasks)) {
    throw new InvalidArgumentError(
      "A pool takes the URL of a module of tasks, or its tasks as an object, { name: function }; got " +
        `${show(tasks)}.`,
    );
  }
  const finder = moduleFinder(hostRuntime);
  return Object.keys(tasks).map((name, index) => {
    return {
      name,
      ...locateTask(name, tasks[name], caller, finder, locate),
      declares: declared[index]?.words,
      hasSignal: settingsOfTask(tasks[name]).hasSignal === true,
      isChecked: checkOf(name, tasks[name]) !== undefined,
    };
  });
}

/** The public handle. Threads and timers of the pool reference only `PoolCore`, which references this weakly. */
class ThreadPool extends EventTarget {
  readonly call: CallProxy;
  readonly ready: Promise<void>;
  readonly #core: PoolCore;
  readonly #spec: PoolSpec;
  readonly #entry: CallSink;
  readonly #isKnown: () => boolean;
  /** Made when a member of a feature is read first. */
  #access: PoolAccess | undefined;
  /** Makes the tasks of a module pool known to its calls. */
  #publish = (): void => {};

  /** Made where the pool was created. */
  readonly #origin: Error;

  /** `moduleTasks`: those of a module pool, to be learned from its workers. */
  constructor(spec: PoolSpec, origin: Error, moduleTasks?: ModuleTasks) {
    super();
    this.#origin = origin;
    // Captures nothing: the core must not reference the handle.
    this.#core = new PoolCore(spec, this, moduleTasks, {
      publish: (pool) => (pool as ThreadPool).#publish(),
      placeError: (pool, error) => placeAt((pool as ThreadPool).#origin, error),
    });
    const core = this.#core;
    const { dispatcher, entry: ownEntry } = core;
    const entry = spec.options.wrapEntry?.(ownEntry) ?? ownEntry;
    this.#spec = spec;
    this.#entry = entry;
    this.ready = core.ready;
    const target = { dispatcher, entry, features: core, pool: this };
    if (moduleTasks === undefined) this.call = createCallProxy(spec, target);
    else {
      const { calls, onKnown } = createModuleCalls(spec, target);
      this.call = calls;
      this.#publish = onKnown;
    }
    const isKnown = (): boolean => moduleTasks === undefined || moduleTasks.isKnown;
    this.#isKnown = isKnown;
    this.#core.start();
  }

  /** Adds the members of features. */
  static addMembers(): void {
    for (const name of Object.keys(members)) {
      defineOwn(this.prototype, name, {
        configurable: true,
        get(this: ThreadPool): unknown {
          this.#spec.uses?.needForMember(name);
          return members[name]!(this.#access ??= this.#createAccess());
        },
        // As a method could be replaced: by tests, and by what wraps a pool.
        set(this: ThreadPool, value: unknown): void {
          defineOwn(this, name, {
            value,
            configurable: true,
            enumerable: true,
            writable: true,
          });
        },
      });
    }
  }

  [PRINTED](): string {
    if (!(#core in this)) return "Pool"; // a proxy, or an object that inherits from a pool
    const { options: { workerOptions, maxThreads }, sources } = this.#spec;
    const { dispatcher: { lanes, inFlight }, isOver, isClosing } = this.#core;
    const state = isOver
      ? "closed"
      : isClosing
      ? "closing"
      : `${lanes.open.length} of ${maxThreads} workers`;
    const tasks = this.#isKnown() ? sources.map(({ name }) => name).join(", ") : "not known yet";
    return `Pool "${workerOptions.name}" (${state}, ${inFlight.size} calls in flight; tasks: ${tasks})`;
  }

  [EVENT_TARGET_PRINTED](): string {
    return this[PRINTED]();
  }

  #createAccess(): PoolAccess {
    const kept = Object.create(null) as Record<string, unknown>;
    return {
      pool: this,
      call: this.call,
      spec: this.#spec,
      core: this.#core,
      entry: this.#entry,
      isKnown: this.#isKnown,
      onShutdown: [],
      keep: <Part>(name: string, make: () => Part) => (kept[name] ??= make()) as Part,
    };
  }

  // A field instead of a method, so that it survives destructuring.
  readonly shutdown = (options?: number | ShutdownOptions): Promise<void> => {
    try {
      const { timeoutMs, isQueuedRun } = options === undefined
        ? DEFAULT_SHUTDOWN
        : checkShutdown(options, undefined);
      for (const listener of this.#access?.onShutdown ?? []) listener();
      return this.#core.shutdown(timeoutMs, isQueuedRun);
    } catch (error) {
      return Promise.reject(withStackAbove(error, this.shutdown));
    }
  };

  readonly [Symbol.dispose] = (): void => void this.shutdown(0);

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.shutdown();
}
