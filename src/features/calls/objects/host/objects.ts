/** The objects of a pool that live in its workers: where each is, its handle, and its end. */
import { Error, FinalizationRegistry, Map, Promise, Set, WeakMap } from "../../../../builtins.ts";
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
import type { Part, PoolParts } from "../../../../api/pool/parts.ts";
import { InvalidArgumentError, ObjectLostError, WorkerLostError } from "../../../../errors.ts";
import { type CallSettings, createSettings } from "../../../../host/calls/call-settings.ts";
import type { PendingCall, Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { WorkerExit } from "../../../../host/workers/feature.ts";
import { OBJECT, OBJECT_ABORTABLE, OBJECT_STREAM } from "../../../../protocol/task-variants.ts";
import { CREATE, type Created, GET, RELEASE } from "../operations.ts";
import {
  moduleOfSpawn,
  type Placement,
  settingsOfSpawn,
  type SpawnRequest,
} from "./spawn-options.ts";

/** An object as the host knows it. Does not refer to its handle, whose collection releases it. */
interface SpawnedObject {
  readonly id: number;
  readonly className: string;
  readonly lane: Lane;
  /** Why it takes no more calls. */
  lost: ObjectLostError | undefined;
  /** Settles when it is disposed of. */
  released: Promise<void> | undefined;
}

const COLLECTED =
  "heddle: an object of a worker was collected without being released, which it is now. Release objects by $release() or `await using`.";
const NO_AFFINITY = "affinity is not for objects: each has its worker.";
const NO_RETRIES = "retries are not for objects: what a lost worker has changed is not known.";
const ENDED = "its worker ended";

/** The objects behind handles. */
const objects = new WeakMap<object, SpawnedObject>();

let nextId = 1;
let hasWarned = false;

/** Of this pool, whose handle its objects keep. */
export function objectsOf(access: PoolAccess): Objects {
  return access.keep("objects", () => new Objects(access, access.core.part(registryOf)));
}

const registryOf = (host: PoolParts): Registry => new Registry(host);

/** The objects of each worker. The pool keeps it, so it does not refer to the pool's handle. */
class Registry implements Part {
  readonly #host: PoolParts;
  readonly #byWorker = new Map<number, Set<SpawnedObject>>();
  readonly collected: FinalizationRegistry<() => void> = new FinalizationRegistry((end) => end());

  constructor(host: PoolParts) {
    this.#host = host;
  }

  /** The worker for a new object, of those that take calls. Undefined: there is none yet, and the first that does so gets it. */
  place(placement: Placement): number | undefined {
    if (typeof placement === "object") {
      const other = objects.get(placement);
      if (other === undefined) {
        throw new InvalidArgumentError(
          'placement must be "spread", "pack" or another object of a worker.',
        );
      }
      if (other.lost !== undefined) throw other.lost;
      return other.lane.id;
    }
    const sign = placement === "pack" ? -1 : 1;
    const count = (id: number): number => sign * (this.#byWorker.get(id)?.size ?? 0);
    const { open } = this.#host.dispatcher.lanes;
    return open.map(({ id }) => id).sort((one, other) => count(one) - count(other))[0];
  }

  add(id: number, className: string, workerId: number): SpawnedObject | undefined {
    const lane = this.#host.dispatcher.lanes.byId(workerId);
    if (lane === undefined) return undefined;
    const object = { id, className, lane, lost: undefined, released: undefined };
    const there = this.#byWorker.get(workerId) ?? new Set();
    this.#byWorker.set(workerId, there.add(object));
    lane.residents = there.size;
    return object;
  }

  delete(object: SpawnedObject): void {
    const there = this.#byWorker.get(object.lane.id);
    if (there?.delete(object) !== true) return;
    object.lane.residents = there.size;
    if (there.size === 0) this.#byWorker.delete(object.lane.id);
  }

  onWorkerLost(workerId: number, error: () => WorkerLostError): void {
    this.#end(workerId, (className) => lostOf(className, error()));
  }

  /** Later, or if nothing was wrong. */
  onWorkerExit({ workerId, reason }: WorkerExit): void {
    this.#end(workerId, (className) => lost(className, `${ENDED}: ${reason}`));
  }

  #end(workerId: number, errorFor: (className: string) => ObjectLostError): void {
    const there = this.#byWorker.get(workerId);
    this.#byWorker.delete(workerId);
    for (const object of there ?? []) object.lost ??= errorFor(object.className);
  }
}

const lost = (className: string, why: string, options?: ErrorOptions): ObjectLostError =>
  new ObjectLostError(`The object of the class "${className}" is gone: ${why}.`, options);

const lostOf = (className: string, cause: WorkerLostError): ObjectLostError =>
  lost(className, `${ENDED}: ${cause.reason}`, { cause });

export class Objects {
  readonly #access: PoolAccess;
  readonly #registry: Registry;

  constructor(access: PoolAccess, registry: Registry) {
    this.#access = access;
    this.#registry = registry;
  }

  /** Makes an object, and resolves with its handle. */
  async create(request: SpawnRequest): Promise<object> {
    const { name: className, args } = request;
    const url = moduleOfSpawn(request, this.#access.spec);
    const { concurrency, placement } = settingsOfSpawn(request);
    const id = nextId++;
    const workerId = this.#registry.place(placement);
    const settings = this.#settings(NO_OPTIONS, workerId);
    const call = (resolve: Resolve, reject: Reject) =>
      this.#submit([id, CREATE, url, className, concurrency, ...args], resolve, reject, settings);
    // Counted before anything else happens to its worker.
    const [object, created] = await new Promise<[SpawnedObject, Created]>((resolve, reject) => {
      call((value) => {
        const created = value as Created;
        const object = this.#registry.add(id, className, created[0]);
        if (object === undefined) reject(lost(className, ENDED));
        else resolve([object, created]);
      }, (error) => reject(this.#reasonOf(error, className)));
    });
    return this.#handle(object, created);
  }

  #settings(given: GivenCall, workerId: number | undefined, isStream = false): CallSettings {
    const { options } = this.#access.spec;
    const own = settingsFor(options, {}, given, isStream);
    const affinity = workerId === undefined ? undefined : { workerId };
    const { signal, tickMs } = own;
    const hasSignal = isStream || signal !== undefined || tickMs !== Infinity;
    return createSettings({ ...own, retries: 0, hasSignal, affinity });
  }

  #submit(
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall | undefined {
    const { entry, spec, isKnown } = this.#access;
    const variant = settings.isStream
      ? OBJECT_STREAM
      : settings.hasSignal
      ? OBJECT_ABORTABLE
      : OBJECT;
    const find = () => ({ task: variant * spec.sources.length, settings, runsByName: false });
    const called = isKnown() ? find().task : { name: "spawn", find };
    return entry.submit(called, args, resolve, reject, settings);
  }

  /** The loss of a worker is that of the object. */
  #reasonOf(error: unknown, className: string): unknown {
    return error instanceof WorkerLostError ? lostOf(className, error) : error;
  }

  #handle(object: SpawnedObject, [, methods, generators]: Created): object {
    const registry = this.#registry;
    const { spec } = this.#access;
    const release = (): Promise<void> => this.#release(object);
    const handle: Record<string | symbol, unknown> = {
      $get: (name: string) =>
        this.#call(object, GET, [name], this.#settings(NO_OPTIONS, object.lane.id)),
      $release: release,
      [Symbol.asyncDispose]: release,
    };
    for (const [method, name] of methods.entries()) {
      handle[name] = this.#method(object, method, generators.includes(name), NO_OPTIONS);
    }
    for (const name of Reflect.ownKeys(handle)) {
      // As methods of a class are: inspectors show what remains.
      Object.defineProperty(handle, name, { enumerable: methods.includes(name as string) });
    }
    objects.set(handle, object);
    // What is called then keeps the pool until it is.
    registry.collected.register(handle, () => {
      if (object.lost !== undefined || object.released !== undefined) return;
      if (!hasWarned) spec.runtime.warn(COLLECTED);
      hasWarned = true;
      release().catch(() => {}); // nobody is there to hear of it
    });
    return handle;
  }

  #method(object: SpawnedObject, method: number, isStream: boolean, given: GivenCall): unknown {
    const { core, spec } = this.#access;
    const settings = this.#settings(given, object.lane.id, isStream);
    const change = changeOf(given);
    const call = (...args: unknown[]): unknown => {
      const sent = change?.(args, given, undefined, spec.runtime.isPromise) ?? args;
      if (sent instanceof Error) return Promise.reject(sent);
      if (!isStream) return this.#call(object, method, sent, settings);
      const submit: MakeCall = (resolve, reject) =>
        this.#send(object, method, sent, settings, resolve, reject);
      return returns.callGenerator!(core, submit);
    };
    return Object.assign(call, {
      with: (options: unknown) => {
        const more = checkCallOptions(options);
        if (more.affinity !== undefined) throw new InvalidArgumentError(NO_AFFINITY);
        if (more.retries !== undefined) throw new InvalidArgumentError(NO_RETRIES);
        return this.#method(object, method, isStream, mergeOptions(given, more));
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
      this.#send(object, operation, args, settings, resolve, reject);
    });
  }

  #send(
    object: SpawnedObject,
    operation: number,
    args: readonly unknown[],
    settings: CallSettings,
    resolve: Resolve,
    reject: Reject,
  ): PendingCall | undefined {
    if (object.lost !== undefined) throw object.lost;
    const fail: Reject = (error) => reject(this.#reasonOf(error, object.className));
    return this.#submit([object.id, operation, ...args], resolve, fail, settings);
  }

  #release(object: SpawnedObject): Promise<void> {
    if (object.released !== undefined) return object.released;
    if (object.lost !== undefined) return Promise.resolve(); // with its worker
    const settings = this.#settings(NO_OPTIONS, object.lane.id);
    object.released = this.#call(object, RELEASE, [], settings).then(() => {}, (error) => {
      if (!(error instanceof ObjectLostError)) throw error; // otherwise it went with its worker
    }).finally(() => this.#registry.delete(object));
    object.lost = lost(object.className, "it was released");
    return object.released;
  }
}
