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
import { CREATE, type Created, GET, RELEASE } from "../operations.ts";
import {
  lost,
  lostWith,
  objects,
  type Registry,
  registryOf,
  type SpawnedObject,
} from "./registry.ts";
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

let nextId = 1;
let hasWarned = false;

/** Of this pool, whose handle its objects keep. */
export function objectsOf(access: PoolAccess): Objects {
  return access.keep("objects", () => new Objects(access, access.core.part(registryOf)));
}

type Receivers = readonly [resolve: Resolve, reject: Reject];

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
    const url = moduleOfSpawn(request, this.#access.spec);
    const workerId = this.#registry.place(settingsOfSpawn(request).placement);
    const id = nextId++;
    const settings = this.#settings(NO_OPTIONS, workerId);
    const end = this.#registry.begin(workerId);
    try {
      const made = await new Promise<readonly [SpawnedObject, Created]>((resolve, reject) => {
        this.#submit([id, CREATE, url, name, ...args], [(value) => {
          // It counts before anything else happens to its worker.
          const created = value as Created;
          const object = this.#registry.add(id, name, created[0]);
          if (object === undefined) reject(lost(name, "its worker ended"));
          else resolve([object, created]);
        }, reject], settings);
      });
      return this.#handle(...made);
    } catch (error) {
      // It may be there, and only the answer was not to be sent, or came late.
      if (workerId !== undefined) this.#submitQuietly([id, RELEASE], settings);
      throw error instanceof WorkerLostError ? lostWith(name, error) : error;
    } finally {
      end();
    }
  }

  #settings(given: GivenCall, workerId: number | undefined, isStream = false): CallSettings {
    const own = settingsFor(this.#access.spec.options, {}, given, isStream);
    const affinity = workerId === undefined ? undefined : { workerId };
    return createSettings({ ...own, retries: 0, affinity });
  }

  #submit(
    args: readonly unknown[],
    [resolve, reject]: Receivers,
    settings: CallSettings,
  ): PendingCall | undefined {
    const { entry, spec, isKnown } = this.#access;
    const variant = settings.isStream ? OBJECT_STREAM : OBJECT;
    const find = () => ({
      task: variant * (spec.sources.length || 1),
      settings,
      runsByName: false,
    });
    const called = isKnown() ? find().task : { name: "spawn", find };
    return entry.submit(called, args, resolve, reject, settings);
  }

  #submitQuietly(args: readonly unknown[], settings: CallSettings): void {
    const ignore = (): void => {};
    try {
      this.#submit(args, [ignore, ignore], settings);
    } catch {
      // The pool is closed, and so are its workers.
    }
  }

  #handle(object: SpawnedObject, [, methods, generators]: Created): object {
    const handle: Record<string | symbol, unknown> = {};
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
      define(name, this.#method(object, method, isStream, NO_OPTIONS, handle), true);
    }
    const settings = this.#settings(NO_OPTIONS, object.lane.id);
    define("$get", (name: string) => this.#call(object, GET, [name], settings));
    const release = (): Promise<void> => this.#release(object);
    define("$release", release);
    define(Symbol.asyncDispose, release);
    objects.set(handle, object);
    this.#watch(handle, object);
    return handle;
  }

  /** Releases the object when its handle and all its methods are collected. What is kept for that keeps the pool until then. */
  #watch(handle: object, object: SpawnedObject): void {
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
    method: number,
    isStream: boolean,
    given: GivenCall,
    handle: object,
  ): unknown {
    const { core, spec } = this.#access;
    const settings = this.#settings(given, object.lane.id, isStream);
    const change = changeOf(given);
    const call = (...args: unknown[]): unknown => {
      const sent = change?.(args, given, undefined, spec.runtime.isPromise) ?? args;
      if (sent instanceof Error) return Promise.reject(sent);
      if (!isStream) return this.#call(object, method, sent, settings);
      const submit: MakeCall = (resolve, reject) =>
        this.#send(object, method, sent, [resolve, reject], settings);
      return returns.callGenerator!(core, submit);
    };
    return Object.assign(call, {
      with: (options: unknown) => {
        const more = checkCallOptions(options);
        for (const [name, why] of Object.entries(REFUSED)) {
          if (more[name as keyof GivenCall] === undefined) continue;
          throw new InvalidArgumentError(`${name} is not for methods of objects: ${why}.`);
        }
        return this.#method(object, method, isStream, mergeOptions(given, more), handle);
      },
    });
  }

  #call(
    object: SpawnedObject,
    operation: number,
    args: readonly unknown[],
    settings: CallSettings,
  ): Promise<unknown> {
    return new Promise((resolve: Resolve, reject: Reject) => {
      this.#send(object, operation, args, [resolve, reject], settings);
    });
  }

  #send(
    object: SpawnedObject,
    operation: number,
    args: readonly unknown[],
    [resolve, reject]: Receivers,
    settings: CallSettings,
  ): PendingCall | undefined {
    if (object.lost !== undefined) throw object.lost();
    const { id, className } = object;
    const over = (): void => {
      if (--object.calls === 0) object.onIdle?.();
    };
    const fail: Reject = (error) =>
      reject(error instanceof WorkerLostError ? lostWith(className, error) : error);
    object.calls++;
    try {
      const { isStream } = settings;
      const receivers: Receivers = isStream ? [resolve, fail] : [(value) => {
        over();
        resolve(value);
      }, (error) => {
        over();
        fail(error);
      }];
      const call = this.#submit([id, operation, ...args], receivers, settings);
      // A stream ends in its own ways.
      if (isStream) {
        if (call === undefined) over();
        else call.keep().add({ onOver: over });
      }
      return call;
    } catch (error) {
      over();
      throw error;
    }
  }

  #release(object: SpawnedObject): Promise<void> {
    if (object.released !== undefined) return object.released;
    if (object.lost !== undefined) return Promise.resolve(); // with its worker
    object.lost = () => lost(object.className, "it was released");
    object.released = this.#end(object);
    return object.released;
  }

  /** Its calls end first. */
  async #end(object: SpawnedObject): Promise<void> {
    if (object.calls > 0) await new Promise<void>((resolve) => object.onIdle = resolve);
    const settings = this.#settings(NO_OPTIONS, object.lane.id);
    try {
      for (let isDone = false; !isDone;) isDone = await this.#dispose(object.id, settings);
    } finally {
      this.#registry.delete(object);
    }
  }

  /** False: the queue of the pool is full. */
  async #dispose(id: number, settings: CallSettings): Promise<boolean> {
    try {
      await new Promise((resolve, reject) => {
        this.#submit([id, RELEASE], [resolve, reject], settings);
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
