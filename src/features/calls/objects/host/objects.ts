/** Makes objects in workers, their handles and the calls of these, and ends them. */
import { Error, FinalizationRegistry, Promise } from "../../../../builtins.ts";
import { settingsFor } from "../../../../api/calls/call-proxy.ts";
import { type MakeCall, returns } from "../../../../api/calls/feature.ts";
import {
  changeOf,
  checkCallOptions,
  type GivenCall,
  mergeOptions,
  NO_OPTIONS,
} from "../../../../api/options/call-options.ts";
import type { PoolAccess } from "../../../../api/pool/members.ts";
import {
  InvalidArgumentError,
  ObjectLostError,
  PoolClosedError,
  QueueFullError,
  WorkerLostError,
} from "../../../../errors.ts";
import { type CallSettings, createSettings } from "../../../../host/calls/call-settings.ts";
import type { PendingCall, Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import { OBJECT, OBJECT_STREAM } from "../../../../protocol/task-variants.ts";
import { ARGUMENTS, type Snapshot } from "../../../../lane/snapshot.ts";
import { capturePassing } from "../../requests/host/passing-values.ts";
import { withCallbacks } from "../../requests/callback-value.ts";
import { nextNumber, OBJECT_KIND, Reference, setReference } from "../../requests/references.ts";
import { checkMethod, CREATE, type Created, GET, RELEASE } from "../operations.ts";
import { withoutLeading } from "./argument-errors.ts";
import {
  lost,
  lostWith,
  objects,
  type Registry,
  registryOf,
  type SpawnedObject,
} from "./registry.ts";
import { restartWhenLost } from "./restarts.ts";
import { PRINTED } from "../../../../runtimes/printed.ts";
import { moduleOfSpawn, settingsOfSpawn, type SpawnRequest } from "./spawn-options.ts";

const COLLECTED =
  "heddle: an object of a worker was collected without being released, which it is now. Release objects by $release() or `await using`.";

/** Options of calls that methods refuse, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  affinity: "each object has its worker",
  retries: "what a lost worker has changed is not known",
  priority: "its calls begin in their order",
  onEvent: "a method has no events; let it be a generator",
};
/** Time between two attempts to release an object while the queue of its pool is full. */
const AGAIN_MS = 5;

let hasWarned = false;

/** Of this pool, whose handle its objects keep. */
export function objectsOf(access: PoolAccess): Objects {
  return access.keep("objects", () => new Objects(access, access.core.part(registryOf)));
}

/** What a function of a handle calls. */
interface Operation {
  /** Of the method, or GET. */
  readonly number: number;
  /** That observers see. */
  readonly name: string;
  readonly settings: CallSettings;
}

type Receivers = readonly [resolve: Resolve, reject: Reject];

const releaseOf = (className: string): string => `${className}.$release`;

/** A call of the object has ended. */
function end(object: SpawnedObject): void {
  if (--object.calls === 0) object.onIdle?.();
}

/** Tells handles from plain objects, so that they can be arguments. */
const handlePrototype: object = Object.create(Object.prototype, {
  [PRINTED]: {
    value(this: object): string {
      const object = objects.get(this);
      if (object === undefined) return "Object in a worker"; // a proxy, or one that inherits from a handle
      const { className, calls, lost: isLost, affinity: { workerId } } = object;
      const place = isLost === undefined ? `in worker ${workerId}` : "gone";
      return `${className} (${place}, ${calls} calls in flight; methods: ${
        Object.keys(this).join(", ")
      })`;
    },
  },
});

export class Objects {
  readonly #access: PoolAccess;
  readonly #registry: Registry;
  readonly #collected = new FinalizationRegistry<() => void>((release) => release());

  constructor(access: PoolAccess, registry: Registry) {
    this.#access = access;
    this.#registry = registry;
  }

  /** Makes an object, and resolves with its handle. */
  async create(request: SpawnRequest): Promise<object> {
    const { name, args } = request;
    const { runtime } = this.#access.spec;
    const url = moduleOfSpawn(request, this.#access.spec);
    const { placement, restart } = settingsOfSpawn(request);
    const beside = typeof placement === "object" ? objects.get(placement) : undefined;
    if (beside?.remade !== undefined) await beside.remade;
    const id = nextNumber();
    const made = [id, CREATE, url, name, ...args];
    const [object, created] = await this.#make(
      id,
      name,
      this.#registry.place(placement),
      (workerId) => this.#registry.add(id, name, workerId),
      (receivers, affinity) => {
        const settings = this.#settings(NO_OPTIONS, affinity);
        try {
          this.#submit(`new ${name}`, made, receivers, settings);
        } catch (error) {
          throw withoutLeading(error, 4);
        }
      },
    );
    if (restart !== undefined) {
      restartWhenLost(object, {
        ...restart,
        now: runtime.now,
        later: (f) => void runtime.setTimeout(f, 0),
        isOver: () => this.#access.core.isOver,
        make: () => this.#makeAgain(object, made, created, beside),
      });
    }
    const handle = this.#handle(object, created);
    const nested = this.#settings(NO_OPTIONS, object.nestedAffinity);
    const reference = new Reference(
      OBJECT_KIND,
      (args, resolve, reject) => this.#callNested(object, created, args, [resolve, reject], nested),
      id,
      () => !object.isBeingMade,
    );
    setReference(handle, reference);
    this.#watch(handle, object, reference);
    return handle;
  }

  /** Makes an object by a call that `submit` makes. `register`: at once, before anything else happens to its worker. Undefined: that is gone. */
  async #make(
    id: number,
    className: string,
    workerId: number | undefined,
    register: (workerId: number) => SpawnedObject | undefined,
    submit: (receivers: Receivers, affinity: { workerId: number } | undefined) => void,
  ): Promise<readonly [SpawnedObject, Created]> {
    const affinity = workerId === undefined ? undefined : { workerId };
    const end = this.#registry.begin(workerId);
    try {
      return await new Promise<readonly [SpawnedObject, Created]>((resolve, reject) => {
        submit([(value) => {
          const created = value as Created;
          const object = register(created[0]);
          if (object === undefined) reject(lost(className, "its worker ended"));
          else resolve([object, created]);
        }, reject], affinity);
      });
    } catch (error) {
      // It may be there, and only the answer was not to be sent, or came late.
      if (affinity !== undefined) {
        this.#releaseQuietly(id, className, affinity);
      }
      throw error instanceof WorkerLostError ? lostWith(className, error) : error;
    } finally {
      end();
    }
  }

  /** The calls that wait for it fill the limits of workers and of the queue, so it goes before them and those do not count. */
  async #makeAgain(
    object: SpawnedObject,
    made: readonly unknown[],
    [, methods]: Created,
    beside: SpawnedObject | undefined,
  ): Promise<void> {
    await beside?.remade?.catch(() => {}); // it is told to its own calls
    const where = beside && this.#registry.workerOf(beside);
    const args = await Promise.all(made); // promises among them have been sent as their values
    const [, [workerId, again]] = await this.#make(
      object.id,
      object.className,
      where ?? this.#registry.place("spread"),
      (workerId) => this.#registry.move(object, workerId) ? object : undefined,
      (receivers, affinity) => {
        const nested = affinity === undefined
          ? { isNested: true } as const
          : { ...affinity, isNested: true } as const;
        const callbacks = { functions: [], references: [] };
        const snapshot = withCallbacks(callbacks, () => this.#capture(args));
        const settings = { ...this.#settings(NO_OPTIONS, nested), callbacks };
        this.#submitNested(snapshot, receivers, createSettings(settings));
      },
    );
    if (methods.join() === again.join()) return;
    this.#registry.delete(object);
    this.#releaseQuietly(object.id, object.className, { workerId });
    throw new InvalidArgumentError("The new object has other methods.");
  }

  #settings(
    given: GivenCall,
    affinity: CallSettings["affinity"],
    isStream = false,
  ): CallSettings {
    const own = settingsFor(this.#access.spec.options, {}, given, isStream);
    return createSettings({ ...own, retries: 0, affinity });
  }

  /** `name`: that observers see. */
  #submit(
    name: string,
    args: readonly unknown[],
    [resolve, reject]: Receivers,
    settings: CallSettings,
  ): PendingCall | undefined {
    const { entry, spec, isKnown } = this.#access;
    const variant = settings.isStream ? OBJECT_STREAM : OBJECT;
    const task = (): number => variant * (spec.sources.length || 1);
    const called = isKnown()
      ? task()
      : { name, find: () => ({ task: task(), settings, runsByName: false }) };
    return entry.submit(called, args, resolve, reject, settings, undefined, name);
  }

  #capture(args: readonly unknown[]): Snapshot {
    return capturePassing(this.#access.core.snapshots, args, ARGUMENTS);
  }

  /** For a call that others wait for: no limit holds it up. */
  #submitNested(snapshot: Snapshot, [resolve, reject]: Receivers, settings: CallSettings): void {
    const { core: { dispatcher: { submitter }, isOver }, spec } = this.#access;
    if (isOver) throw new PoolClosedError();
    const task = OBJECT * (spec.sources.length || 1);
    submitter.submitNested(task, snapshot, settings, resolve, reject);
  }

  #releaseQuietly(id: number, className: string, affinity: { workerId: number }): void {
    const ignore = (): void => {};
    const settings = this.#settings(NO_OPTIONS, affinity);
    try {
      this.#submit(releaseOf(className), [id, RELEASE], [ignore, ignore], settings);
    } catch {
      // The pool is closed, and so are its workers.
    }
  }

  #handle(object: SpawnedObject, [, methods, generators]: Created): object {
    const handle = Object.create(handlePrototype) as Record<string | symbol, unknown>;
    const define = (name: string | symbol, value: unknown, enumerable = false): void => {
      Object.defineProperty(handle, name, {
        value,
        enumerable,
        writable: true,
        configurable: true,
      });
    };
    for (const [method, name] of methods.entries()) {
      const isStream = generators.includes(name);
      define(name, this.#method(object, method, name, isStream, NO_OPTIONS, handle), true);
    }
    const settings = this.#settings(NO_OPTIONS, object.affinity);
    const get = { number: GET, name: `${object.className}.$get`, settings };
    define("$get", (name: string) => this.#call(object, get, [name]));
    const release = (): Promise<void> => this.#release(object);
    define("$release", release);
    define(Symbol.asyncDispose, release);
    Object.defineProperty(handle, "$generation", { get: () => object.generation });
    objects.set(handle, object);
    return handle;
  }

  /** Releases the object when its handle and all its methods are collected. What is kept for that keeps the pool until then. */
  #watch(handle: object, object: SpawnedObject, reference: Reference): void {
    object.onOver = () => reference.end();
    this.#collected.register(handle, () => {
      if (object.lost !== undefined) return;
      if (!hasWarned) this.#access.spec.runtime.warn(COLLECTED);
      hasWarned = true;
      this.#release(object).catch(() => {}); // nobody is there to hear of it
    });
  }

  /** `handle`: is kept by its methods. */
  #method(
    object: SpawnedObject,
    number: number,
    name: string,
    isStream: boolean,
    given: GivenCall,
    handle: object,
  ): unknown {
    const { core, spec } = this.#access;
    const settings = this.#settings(given, object.affinity, isStream);
    const operation = { number, name: `${object.className}.${name}`, settings };
    const change = changeOf(given);
    const call = (...args: unknown[]): unknown => {
      const sent = change?.(args, given, undefined, spec.runtime.isPromise) ?? args;
      if (sent instanceof Error) return Promise.reject(sent);
      if (!isStream) return this.#call(object, operation, sent);
      const submit: MakeCall = (resolve, reject) =>
        this.#send(object, operation, sent, [resolve, reject]);
      return returns.callGenerator!(core, submit);
    };
    return Object.assign(call, {
      with: (options: unknown) => {
        const more = checkCallOptions(options);
        for (const [name, why] of Object.entries(REFUSED)) {
          if (more[name as keyof GivenCall] === undefined) continue;
          throw new InvalidArgumentError(`${name} is not for methods of objects: ${why}.`);
        }
        return this.#method(object, number, name, isStream, mergeOptions(given, more), handle);
      },
    });
  }

  /** A call by a task, or by a method of another object: of a worker that may wait for it before it takes others. */
  #callNested(
    object: SpawnedObject,
    [, methods, generators]: Created,
    [name, ...args]: readonly unknown[],
    [resolve, reject]: Receivers,
    settings: CallSettings,
  ): void {
    const isGet = name === "$get";
    if (!isGet) checkMethod(name as string, methods, generators);
    if (object.lost !== undefined) throw object.lost();
    object.calls++;
    const fail: Reject = (error) => {
      end(object);
      reject(error instanceof WorkerLostError ? lostWith(object.className, error) : error);
    };
    const send = (): void => {
      const sent = [object.id, isGet ? GET : methods.indexOf(name as string), ...args];
      try {
        this.#submitNested(this.#capture(sent), [(value) => {
          end(object);
          resolve(value);
        }, fail], settings);
      } catch (error) {
        fail(error);
      }
    };
    if (object.isBeingMade) object.remade!.then(send, fail);
    else send();
  }

  #call(
    object: SpawnedObject,
    operation: Operation,
    args: readonly unknown[],
  ): Promise<unknown> {
    return new Promise((resolve: Resolve, reject: Reject) => {
      this.#send(object, operation, args, [resolve, reject]);
    });
  }

  #send(
    object: SpawnedObject,
    { number, name, settings }: Operation,
    args: readonly unknown[],
    [resolve, reject]: Receivers,
  ): PendingCall | undefined {
    if (object.lost !== undefined) throw object.lost();
    const { isStream } = settings;
    const succeed: Resolve = isStream ? resolve : (value) => {
      end(object);
      resolve(value);
    };
    const fail: Reject = (error) => {
      if (!isStream) end(object);
      reject(error instanceof WorkerLostError ? lostWith(object.className, error) : error);
    };
    object.calls++;
    try {
      const sent = [object.remade ?? object.id, number, ...args];
      const call = this.#submit(name, sent, [succeed, fail], settings);
      // A stream ends in its own ways.
      if (isStream) {
        if (call === undefined) end(object);
        else call.keep().add({ onOver: () => end(object) });
      }
      return call;
    } catch (error) {
      end(object);
      throw withoutLeading(error, 2);
    }
  }

  #release(object: SpawnedObject): Promise<void> {
    if (object.released !== undefined) return object.released;
    if (object.lost !== undefined) return Promise.resolve(); // with its worker
    object.lost = () => lost(object.className, "it was released");
    object.onOver?.();
    object.released = this.#end(object);
    return object.released;
  }

  /** Its calls end first. */
  async #end(object: SpawnedObject): Promise<void> {
    await object.remade?.catch(() => {});
    if (object.calls > 0) await new Promise<void>((resolve) => object.onIdle = resolve);
    const settings = this.#settings(NO_OPTIONS, object.affinity);
    try {
      for (let isDone = false; !isDone;) isDone = await this.#dispose(object, settings);
    } finally {
      this.#registry.delete(object);
    }
  }

  /** False: the queue of the pool is full. */
  async #dispose({ id, className }: SpawnedObject, settings: CallSettings): Promise<boolean> {
    try {
      await new Promise((resolve, reject) => {
        this.#submit(releaseOf(className), [id, RELEASE], [resolve, reject], settings);
      });
    } catch (error) {
      if (error instanceof QueueFullError) {
        const { runtime } = this.#access.spec;
        await new Promise<void>((resolve) => runtime.setTimeout(resolve, AGAIN_MS));
        return false;
      }
      // Otherwise it goes with its worker or with the pool, which dispose of it if they can.
      const isGone = error instanceof WorkerLostError || error instanceof PoolClosedError ||
        error instanceof ObjectLostError;
      if (!isGone) throw error;
    }
    return true;
  }
}
