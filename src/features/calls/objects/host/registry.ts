/** Which objects live in which worker of a pool. */
import { Map, Set, WeakMap } from "../../../../builtins.ts";
import type { Part, PoolParts } from "../../../../api/pool/parts.ts";
import { InvalidArgumentError, ObjectLostError, type WorkerLostError } from "../../../../errors.ts";
import type { WorkerExit } from "../../../../host/workers/feature.ts";
import type { Placement } from "./spawn-options.ts";

/** An object as the host knows it. Does not refer to its handle, whose collection releases it. */
export interface SpawnedObject {
  readonly id: number;
  readonly className: string;
  /** Where its calls go, and those that tasks make. Changes when it is made again. */
  readonly affinity: { workerId: number };
  readonly nestedAffinity: { workerId: number; readonly isNested: true };
  /** How often it was made. */
  generation: number;
  /** Makes the error of further calls. An error that is kept would keep the handle, by its stack (V8). */
  lost: (() => ObjectLostError) | undefined;
  /** It was lost with its worker. */
  onLost: (() => void) | undefined;
  /** Nobody may call it any more. */
  onOver: (() => void) | undefined;
  /** It is being made again. */
  isBeingMade: boolean;
  /** It is being made again, or was so in this turn of the event loop: resolves with its id when calls may go on. */
  remade: Promise<number> | undefined;
  /** Calls that are not settled. */
  calls: number;
  /** Called when there is none. */
  onIdle: (() => void) | undefined;
  /** Settles when it is disposed of. */
  released: Promise<void> | undefined;
}

const ENDED = "its worker ended";
const NOT_HERE = 'placement must be "spread", "pack" or another object of this pool.';

/** The objects behind handles. */
export const objects: WeakMap<object, SpawnedObject> = new WeakMap();

export const lost = (className: string, why: string, options?: ErrorOptions): ObjectLostError =>
  new ObjectLostError(`The object of the class "${className}" is gone: ${why}.`, options);

/** The loss of its worker. */
export const lostWith = (className: string, cause: WorkerLostError): ObjectLostError =>
  lost(className, `${ENDED}: ${cause.reason}`, { cause });

export const registryOf = (host: PoolParts): Registry => new Registry(host);

/** The pool keeps it, so it does not refer to the pool's handle. */
export class Registry implements Part {
  readonly #host: PoolParts;
  readonly #byWorker = new Map<number, Set<SpawnedObject>>();
  /** Objects that are being made, by the worker that was chosen. */
  readonly #underWay = new Map<number, number>();

  constructor(host: PoolParts) {
    this.#host = host;
  }

  /** The worker for a new object, of those that take calls. Undefined: there is none yet, and the first that does so gets it. */
  place(placement: Placement): number | undefined {
    if (typeof placement === "object") {
      const other = objects.get(placement);
      if (other?.lost !== undefined) throw other.lost();
      const workerId = other && this.workerOf(other);
      if (workerId !== undefined) return workerId;
      throw new InvalidArgumentError(NOT_HERE);
    }
    const sign = placement === "pack" ? -1 : 1;
    const { open } = this.#host.dispatcher.lanes;
    const count = (id: number): number => sign * this.#countOf(id);
    return open.map(({ id }) => id).sort((one, other) => count(one) - count(other))[0];
  }

  /** An object is about to be made in this worker. Returns what ends that. */
  begin(workerId: number | undefined): () => void {
    if (workerId === undefined) return () => {};
    const add = (count: number): void => {
      const sum = (this.#underWay.get(workerId) ?? 0) + count;
      if (sum > 0) this.#underWay.set(workerId, sum);
      else this.#underWay.delete(workerId);
      this.#count(workerId);
    };
    add(1);
    return () => add(-1);
  }

  /** Undefined: its worker is gone. */
  add(id: number, className: string, workerId: number): SpawnedObject | undefined {
    const object: SpawnedObject = {
      id,
      className,
      affinity: { workerId },
      nestedAffinity: { workerId, isNested: true },
      generation: 0,
      lost: undefined,
      onLost: undefined,
      onOver: undefined,
      isBeingMade: false,
      remade: undefined,
      calls: 0,
      onIdle: undefined,
      released: undefined,
    };
    return this.move(object, workerId) ? object : undefined;
  }

  /** It was made in this worker. False: that is gone. */
  move(object: SpawnedObject, workerId: number): boolean {
    if (this.#host.dispatcher.lanes.byId(workerId) === undefined) return false;
    object.generation++;
    this.#byWorker.get(object.affinity.workerId)?.delete(object);
    object.affinity.workerId = object.nestedAffinity.workerId = workerId;
    const there = this.#byWorker.get(workerId) ?? new Set();
    this.#byWorker.set(workerId, there.add(object));
    this.#count(workerId);
    return true;
  }

  delete(object: SpawnedObject): void {
    const { workerId } = object.affinity;
    this.#byWorker.get(workerId)?.delete(object);
    this.#count(workerId);
  }

  /** The worker of an object; undefined: it has none. */
  workerOf(object: SpawnedObject): number | undefined {
    const { workerId } = object.affinity;
    return this.#byWorker.get(workerId)?.has(object) === true ? workerId : undefined;
  }

  #countOf(workerId: number): number {
    return (this.#byWorker.get(workerId)?.size ?? 0) + (this.#underWay.get(workerId) ?? 0);
  }

  #count(workerId: number): void {
    const lane = this.#host.dispatcher.lanes.byId(workerId);
    if (lane !== undefined) lane.residents = this.#countOf(workerId);
  }

  onWorkerLost(workerId: number, error: () => WorkerLostError): void {
    this.#end(workerId, (className) => lostWith(className, error()));
  }

  /** Later, or if nothing was wrong. */
  onWorkerExit({ workerId, reason }: WorkerExit): void {
    this.#end(workerId, (className) => lost(className, `${ENDED}: ${reason}`));
  }

  #end(workerId: number, errorFor: (className: string) => ObjectLostError): void {
    const there = this.#byWorker.get(workerId);
    this.#byWorker.delete(workerId);
    for (const object of there ?? []) {
      object.lost ??= () => errorFor(object.className);
      object.onLost?.();
      if (object.lost !== undefined) object.onOver?.();
    }
  }
}
